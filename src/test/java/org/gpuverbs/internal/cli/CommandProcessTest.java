// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands in JVMs of their own, as they are started from a shell. */
@Timeout(180)
class CommandProcessTest {
  @TempDir Path directory;

  private record Result(int status, String out, String err) {}

  /** On the class path, where the jar puts it too. */
  private Result run(List<String> jvmOptions, String... words)
      throws IOException, InterruptedException {
    Path classes = Path.of(System.getProperty("gpuverbs.basedir"), "target", "classes");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", classes.toString(), Main.class.getName()));
    Collections.addAll(command, words);
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .start();
    if (!process.waitFor(150, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(command + " did not end");
    }
    return new Result(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  private static List<String> allowed() {
    return List.of("--enable-native-access=ALL-UNNAMED");
  }

  @Test
  void theExitStatusReachesTheShell() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "some bytes");
    Result right = run(allowed(), "demo", "--cold", "--policies=turn", file.toString());
    assertEquals(0, right.status(), right::toString);
    assertEquals("", right.err());
    assertEquals(2, run(allowed(), "demo", "/no/such/file").status());
  }

  @Test
  void deniedNativeAccessNamesTheFlag() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "some bytes");
    Result demo = run(List.of("--illegal-native-access=deny"), "demo", file.toString());
    assertEquals(1, demo.status(), demo::toString);
    assertTrue(demo.err().contains("--enable-native-access=ALL-UNNAMED"), demo::toString);
    Result info = run(List.of("--illegal-native-access=deny"), "info");
    assertEquals(1, info.status(), info::toString);
    assertTrue(info.out().contains("--enable-native-access=ALL-UNNAMED"), info::toString);
  }

  @Test
  void theLargestWindowsStayBelowEightHundredMegabytes() throws Exception {
    Path file = directory.resolve("large");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(600L << 20);
    }
    Result result =
        run(
            allowed(),
            "demo",
            "--json",
            "--window=256M",
            "--lanes=4",
            "--policies=turn",
            file.toString());
    assertEquals(0, result.status(), result::toString);
    Matcher peak = Pattern.compile("\"peakResidentBytes\": (\\d+)").matcher(result.out());
    assertTrue(peak.find(), result::toString);
    long bytes = Long.parseLong(peak.group(1));
    assertTrue(bytes > 512L << 20 && bytes <= 800_000_000, "peak " + bytes);
  }
}
