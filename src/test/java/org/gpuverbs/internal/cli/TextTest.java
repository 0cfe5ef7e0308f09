// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Units, tables, JSON and the progress bar. */
class TextTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

  private String printed() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0 B",
    "11357,11.1 KiB",
    "1000,1000 B",
    "65536,64 KiB",
    "1610612736,1.5 GiB",
    "5497558138880,5 TiB"
  })
  void bytesAreReadable(long value, String text) {
    assertEquals(text, Units.bytes(value));
  }

  @ParameterizedTest
  @CsvSource({"3.21,3.2 s", "247,4:07", "3723,1:02:03"})
  void durationsAreReadable(double seconds, String text) {
    assertEquals(text, Units.duration(seconds));
  }

  @Test
  void aTableAlignsItsColumns() {
    Table table = new Table(out, List.of(new Table.Column("name", 6), new Table.Column("n", -4)));
    table.header();
    table.row("a", 12);
    table.row("longer name", 3);
    assertEquals("name       n%na         12%nlonger name     3%n".formatted(), printed());
  }

  @Test
  void jsonIsWrittenInOrderAndEscaped() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("text", "a\"b\\c\n\u0001é");
    map.put("list", List.of(1, 2L));
    map.put("none", List.of());
    map.put("yes", true);
    map.put("rate", 1.5);
    map.put("undefined", Double.NaN);
    assertEquals(
        """
        {
          "text": "a\\"b\\\\c\\n\\u0001é",
          "list": [
            1,
            2
          ],
          "none": [],
          "yes": true,
          "rate": 1.500000,
          "undefined": null
        }""",
        Json.of(map));
  }

  @Test
  void aLoneSurrogateBecomesAnEscape() {
    assertEquals("\"\\ud800\"", Json.of("\ud800"));
  }

  @Test
  void theBarShowsPartAndTimeLeft() {
    assertEquals(
        "[###############...............]  50 %  512 MiB of 1 GiB, 3.0 s left  row",
        Progress.line(512L << 20, 1L << 30, 3, "row"));
  }

  @Test
  void anInvisibleBarPrintsNothing() {
    Progress progress = new Progress(out, false, 100);
    progress.add(100, "row");
    progress.clear();
    assertEquals("", printed());
  }

  @Test
  void clearingTakesTheBarAway() {
    Progress progress = new Progress(out, true, 1000);
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (printed().isEmpty() && System.nanoTime() < deadline) {
      progress.add(1, "row");
    }
    assertTrue(printed().contains("row"), "the bar was never drawn");
    progress.clear();
    String last = printed().substring(0, printed().length() - 1);
    assertFalse(last.substring(last.lastIndexOf('\r')).contains("row"));
    assertTrue(printed().endsWith("\r"));
  }
}
