// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
  @TempDir Path folder;

  @BeforeAll
  static void headless() {
    System.setProperty("java.awt.headless", "true");
  }

  @Test
  void thePageLoadsNothingFromElsewhere() throws IOException {
    String page = Files.readString(ReportCommand.write(Fixtures.folders(), folder));
    assertFalse(page.matches("(?s).*(src|href)=\"(?!data:).*"), "something is loaded");
    assertFalse(page.contains("url("));
  }

  @Test
  void eachPlotIsAlsoAPicture() throws IOException {
    ReportCommand.write(Fixtures.folders(), folder);
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> pictures = files.filter(file -> file.toString().endsWith(".png")).toList();
      assertTrue(pictures.size() >= 9, pictures::toString);
      for (Path picture : pictures) {
        BufferedImage image = ImageIO.read(picture.toFile());
        assertEquals(Plots.WIDTH * Plots.SCALE, image.getWidth());
      }
    }
  }

  @Test
  void theSummaryStatesTheRatioToC() throws IOException {
    ReportCommand.write(Fixtures.folders(), folder);
    String summary = Files.readString(folder.resolve("summary.md"));
    assertTrue(summary.contains("| c_loop | 16 |"), summary);
    assertTrue(summary.contains("ratio to C"), summary);
  }

  @Test
  void aFolderWithoutResultsIsRefusedByName() {
    IOException e =
        assertThrows(
            IOException.class,
            () -> ReportCommand.write(List.of(folder), folder.resolve("report")));
    assertTrue(e.getMessage().contains("run bench/run.sh"), e::getMessage);
  }

  @Test
  void brokenJsonIsNamed() throws IOException {
    Files.writeString(folder.resolve("jmh.json"), "[{");
    IOException e =
        assertThrows(
            IOException.class,
            () -> ReportCommand.write(List.of(folder), folder.resolve("report")));
    assertTrue(e.getMessage().contains("jmh.json is not JSON"), e::getMessage);
  }
}
