// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a sticky CUDA error does, in a process that it may spoil. */
@GpuTest(compiler = true)
class GpuFaultTest {
  @TempDir Path scratch;

  @Test
  void aFaultOfAKernelIsNamedByEveryCallAndNothingHangs() throws Exception {
    Path out = scratch.resolve("out");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath(),
                GpuFault.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it hangs");
    String said = Files.readString(out);
    assertEquals(0, process.exitValue(), said);
    assertTrue(said.contains(GpuFault.RIGHT), said);
  }

  /** Tests may run on a module path, which the child does without. */
  static String classPath() {
    String base = System.getProperty("gpuverbs.basedir");
    String own = System.getProperty("java.class.path");
    return base == null
        ? own
        : base
            + "/target/classes"
            + File.pathSeparator
            + base
            + "/target/test-classes"
            + File.pathSeparator
            + own;
  }
}
