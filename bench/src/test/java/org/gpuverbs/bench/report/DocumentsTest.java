// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tables in the project's documents are those that the committed results make. */
class DocumentsTest {
  private static final TableData TABLE =
      new TableData("rates", "Rates", "", List.of("a", "b"), List.of(List.of("x", "1.0")));

  @ParameterizedTest
  @ValueSource(strings = {"README.md", "native/ORDERING.md"})
  void tablesAreOfTheResults(String name) throws IOException {
    Path root = Path.of("..").toAbsolutePath().normalize();
    List<Path> folders;
    try (Stream<Path> all = Files.list(root.resolve("bench/results"))) {
      folders = all.filter(Files::isDirectory).sorted().toList();
    }
    assertEquals(
        Files.readString(root.resolve(name)),
        ReportCommand.filled(folders, root.resolve(name)),
        "make it anew: java -jar bench/target/benchmarks.jar report bench/results/*/ --into "
            + name);
  }

  @Test
  void whatStandsInASectionIsReplaced() throws IOException {
    String text = "before\n<!-- report: rates -->\n| old |\n<!-- end -->\nafter\n";
    assertEquals(
        "before\n<!-- report: rates -->\n| a | b |\n|---|---|\n| x | 1.0 |\n\n<!-- end -->\nafter\n",
        Sections.fill(text, Map.of("rates", TABLE)));
  }

  @Test
  void anUnknownTableIsNamed() {
    String text = "<!-- report: rats -->\n<!-- end -->";
    IOException e =
        assertThrows(IOException.class, () -> Sections.fill(text, Map.of("rates", TABLE)));
    assertTrue(e.getMessage().contains("rats"), e::getMessage);
    assertTrue(e.getMessage().contains("[rates]"), e::getMessage);
  }

  @Test
  void aDocumentWithoutSectionsIsAnError() {
    assertThrows(IOException.class, () -> Sections.fill("text", Map.of("rates", TABLE)));
  }
}
