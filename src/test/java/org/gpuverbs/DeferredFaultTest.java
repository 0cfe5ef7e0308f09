// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a sticky CUDA error does to deferred sends, in a process that it may spoil. */
@GpuTest
class DeferredFaultTest {
  @TempDir Path scratch;

  @Test
  void aTrapFailsEveryPendingSendOfItsContextByNameAndNoOther() throws Exception {
    Path out = scratch.resolve("out");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                GpuFaultTest.classPath(),
                DeferredFault.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    if (!process.waitFor(90, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("it hangs: " + Files.readString(out));
    }
    String said = Files.readString(out);
    assertEquals(0, process.exitValue(), said);
    assertTrue(said.contains(DeferredFault.RIGHT), said);
  }
}
