// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** golden.txt is what golden.c prints with the headers of this machine. */
class GoldenRegenerationTest {
  private static final long SECONDS = 60;

  @Test
  void theCommittedBytesAreTheOnesThatRdmaCoreMakes(@TempDir Path folder) throws Exception {
    assumeTrue(succeeds(folder, "cc", "--version"), "no C compiler named cc");
    Path probe = Files.writeString(folder.resolve("probe.c"), "#include <infiniband/mlx5dv.h>\n");
    assumeTrue(
        succeeds(folder, "cc", "-fsyntax-only", probe.toString()),
        "no infiniband/mlx5dv.h: install libibverbs-dev");

    Path program = folder.resolve("golden");
    run(
        folder.resolve("cc.txt"),
        "cc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        program.toString(),
        Golden.FOLDER.resolve("golden.c").toString());
    Path made = folder.resolve("golden.txt");
    run(made, program.toString());

    assertEquals(Files.readString(Golden.FOLDER.resolve("golden.txt")), Files.readString(made));
  }

  private static boolean succeeds(Path folder, String... command) throws InterruptedException {
    try {
      return exitStatus(folder.resolve("probe.txt"), command) == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static void run(Path output, String... command) throws Exception {
    int status = exitStatus(output, command);
    assertEquals(0, status, () -> List.of(command) + " failed, see " + read(output));
  }

  private static int exitStatus(Path output, String... command)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException(List.of(command) + " did not end within " + SECONDS + " s");
    }
    return process.exitValue();
  }

  private static String read(Path output) {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
