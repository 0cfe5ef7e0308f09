// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.shim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.ffi.Native;
import org.junit.jupiter.api.Test;

/** What can't be had in a JVM of its own. */
class NativeLibraryTest {
  private static final Path LIBRARY = Path.of("/tmp/x/libgpuverbs.so");

  @Test
  void platformsAreNamedAsInTheJar() {
    assertEquals("linux-x86_64", NativeLibrary.platform("Linux", "amd64"));
    assertEquals("linux-aarch_64", NativeLibrary.platform("Linux", "aarch64"));
    assertThrows(RdmaException.class, () -> NativeLibrary.platform("Mac OS X", "aarch64"));
    assertThrows(RdmaException.class, () -> NativeLibrary.platform("Windows 11", "amd64"));
  }

  @Test
  void aNoexecDirectoryIsSaidToBeOne() {
    RdmaException e =
        NativeLibrary.loadFailure(
            LIBRARY,
            new UnsatisfiedLinkError(
                LIBRARY + ": " + LIBRARY + ": failed to map segment from shared object"));
    assertTrue(e.getMessage().contains("noexec"), e.getMessage());
    assertTrue(e.hint().contains("-Dorg.gpuverbs.extract.dir=DIR"), e.hint());
  }

  @Test
  void aLibraryOfAnotherVersionIsRefused() {
    RdmaException e = assertThrows(RdmaException.class, () -> NativeLibrary.checkVersion(99));
    assertTrue(e.getMessage().contains("99"), e.getMessage());
    NativeLibrary.checkVersion(Native.GV_ABI_VERSION());
  }

  @Test
  void aJarWithoutThePlatformsLibrarySaysHowToGetOne() {
    RdmaException e =
        assertThrows(
            RdmaException.class,
            () -> NativeLibrary.loadResource("/org/gpuverbs/native/none/libgpuverbs.so"));
    assertTrue(e.hint().contains("cmake"), e.hint());
  }
}
