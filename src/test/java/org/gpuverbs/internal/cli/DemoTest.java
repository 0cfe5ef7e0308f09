// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class DemoTest {
  @TempDir Path directory;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @BeforeAll
  static void quiet() {
    Quiet.warningsOnly();
  }

  private int run(String... words) {
    return Main.run(List.of(words), new PrintStream(out), new PrintStream(err));
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }

  private Path file(int bytes) throws IOException {
    byte[] content = new byte[bytes];
    new Random(bytes).nextBytes(content);
    return Files.write(directory.resolve("file"), content);
  }

  private static int count(String text, String part) {
    return (text.length() - text.replace(part, "").length()) / part.length();
  }

  private static String sha256(Path file) throws Exception {
    return HexFormat.of()
        .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
  }

  @Test
  void everyPolicyMovesAShortFileAndIsVerified() throws Exception {
    Path file = file(12_345);
    assertEquals(0, run("demo", "--cpu", "--cold", file.toString()), () -> out() + err());
    assertTrue(out().contains("12 of 12 rows verified"), out());
    assertTrue(out().contains("SHA-256 " + sha256(file)), out());
    assertTrue(out().contains("path SOFT on soft0; not DIRECT"), out());
    assertTrue(out().contains("initiator: CPU lane threads"), out());
    assertEquals("", err());
  }

  @Test
  void aFileLongerThanItsWindowsStreamsThroughThem() throws Exception {
    Path file = file(100_123);
    int status =
        run(
            "demo",
            "--cold",
            "--window",
            "16K",
            "--chunk",
            "1K",
            "--lanes=3",
            "--qps=5",
            "--policies",
            "classic,turn-ldst",
            file.toString());
    assertEquals(0, status, () -> out() + err());
    assertTrue(out().contains("2 of 2 rows verified"), out());
    assertTrue(out().contains("SHA-256 " + sha256(file)), out());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4095, 4096, 4097, 8192})
  void lengthsAroundAWindowAreVerified(int bytes) throws Exception {
    Path file = file(bytes);
    int status =
        run("demo", "--cold", "--window=4096", "--lanes=2", "--policies=turn", file.toString());
    assertEquals(0, status, () -> out() + err());
    assertTrue(out().contains("SHA-256 " + sha256(file)), out());
  }

  @Test
  void jsonHoldsTheRowsAndNothingElseIsPrinted() throws Exception {
    Path file = file(5000);
    assertEquals(0, run("demo", "--cpu", "--cold", "--json", file.toString()), () -> out() + err());
    assertTrue(out().startsWith("{\n") && out().endsWith("}\n"), out());
    assertEquals(12, count(out(), "\"policy\": "));
    assertEquals(13, count(out(), "\"verified\": true"));
    assertTrue(out().contains("\"sha256\": \"" + sha256(file) + "\""), out());
    assertEquals("", err());
  }

  @Test
  void theBarIsDrawnWhereItIsAskedFor() throws Exception {
    Path file = file(3_000_000);
    assertEquals(0, run("demo", "--progress", "--lanes=1", file.toString()), () -> out() + err());
    assertTrue(err().contains("MiB of 17.2 MiB"), err());
  }

  @Test
  void aByteSpoiledAtTheFarEndFailsItsRowOnly() throws Exception {
    boolean[] spoiled = {false};
    List<DemoRow> rows =
        rows(
            file(9000),
            there -> {
              if (!spoiled[0]) {
                spoiled[0] = true;
                there.set(
                    ValueLayout.JAVA_BYTE, 4321, (byte) ~there.get(ValueLayout.JAVA_BYTE, 4321));
              }
            });
    assertEquals("FAILED: far end differs, read-back differs", rows.getFirst().verdict());
    assertTrue(rows.stream().skip(1).allMatch(DemoRow::verified));
  }

  @Test
  void aFileThatGrowsWhileItIsMovedFailsTheDemo() throws Exception {
    Path file = file(9000);
    var e = assertThrows(IOException.class, () -> rows(file, there -> append(file)));
    assertTrue(e.getMessage().contains("changed while it was read"), e.getMessage());
  }

  private static void append(Path file) {
    try {
      Files.writeString(file, "more", StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Runs two rows, with a hand in the far window. */
  private static List<DemoRow> rows(Path file, Consumer<MemorySegment> tamper) throws Exception {
    DemoOptions options =
        DemoOptions.parse(
            List.of("--cold", "--policies=turn,classic", "--lanes=2", file.toString()));
    List<DemoRow> finished = new ArrayList<>();
    Demo.Report report =
        new Demo.Report() {
          @Override
          public void start(Demo.Setting setting) {}

          @Override
          public void moved(long bytes, DemoRow row) {}

          @Override
          public void finished(DemoRow row) {
            finished.add(row);
          }
        };
    try (SourceFile source = SourceFile.open(file.toString())) {
      new Demo(options, source, report, tamper).run();
    }
    return finished;
  }

  @Test
  void fetchAddsThatMissAValueAreNotCounted() {
    DemoRow row = new DemoRow(DemoPolicy.TURN, 1);
    row.counted(3, MemorySegment.ofArray(new long[] {2, 0, 1}), 3);
    assertTrue(row.verified());
    row.counted(3, MemorySegment.ofArray(new long[] {0, 0, 1}), 3);
    assertEquals("FAILED: count differs", row.verdict());
  }

  @Test
  void badFilesEndWithStatusTwo() {
    assertEquals(2, run("demo", "/no/such/file"));
    assertTrue(err().contains("there is no file /no/such/file"), err());
    assertEquals(2, run("demo", directory.toString()));
    assertTrue(err().contains("is a directory"), err());
    assertEquals(2, run("demo", "/dev/zero"));
    assertTrue(err().contains("not a regular file"), err());
    assertEquals("", out());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "demo",
        "demo a b",
        "demo --policies fast a",
        "demo --policies= a",
        "demo --lanes 0 a",
        "demo --lanes 1,300 a",
        "demo --qps 65 a",
        "demo --window 512M a",
        "demo --window 5000 a",
        "demo --chunk 32 a",
        "demo --progress --no-progress a",
        "demo --fast a",
        "info what",
        "what",
        ""
      })
  void wrongCommandLinesEndWithStatusTwoAndSayWhereToLook(String line) {
    String[] words = line.isEmpty() ? new String[0] : line.split(" ");
    assertEquals(2, run(words));
    assertTrue(err().startsWith("gpuverbs: ") && err().contains("--help"), err());
    assertEquals(1, count(err(), "\n"), err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--help", "demo --help", "info --help", "--version"})
  void helpAndVersionAreNoErrors(String line) {
    assertEquals(0, run(line.split(" ")));
    assertFalse(out().isBlank());
    assertEquals("", err());
  }

  @Test
  void infoNamesEveryPath() {
    assertEquals(0, run("info"), () -> out() + err());
    for (String part : List.of("SOFT available", "DIRECT not available", "PROXY not available")) {
      assertTrue(out().contains(part), out());
    }
    assertTrue(out().contains("GPU "), out());
  }

  @Test
  void infoAsJsonHasTheSameFacts() {
    assertEquals(0, run("info", "--json"), () -> out() + err());
    assertTrue(out().contains("\"name\": \"soft0\""), out());
    assertTrue(out().contains("\"nativeLibrary\": {\n    \"available\": true"), out());
  }
}
