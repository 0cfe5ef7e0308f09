// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.shim.NativeLibrary;
import org.jspecify.annotations.Nullable;

/**
 * Whether this library works here. Any thread.
 *
 * <p>The native library is loaded at the first need: from the directory named by the system
 * property {@code org.gpuverbs.native.dir}, else from the jar, extracted to a private directory
 * under {@code org.gpuverbs.extract.dir} (default {@code java.io.tmpdir}) and deleted at once.
 */
public final class GpuVerbs {
  private static final String VERSION = "0.1.0";

  private GpuVerbs() {}

  /**
   * Whether the native library is loaded or can be. Never throws.
   *
   * @return true if {@link Nic#open()} can work
   */
  public static boolean isAvailable() {
    return unavailabilityCause() == null;
  }

  /**
   * Why {@link #isAvailable()} is false: an unsupported platform, a missing or damaged library, a
   * library of another version, a temporary directory mounted noexec, or native access denied. The
   * {@linkplain RdmaException#hint hint} says what to do.
   *
   * @return the reason, or null if available
   */
  public static @Nullable RdmaException unavailabilityCause() {
    return NativeLibrary.load();
  }

  /**
   * Loads the native library.
   *
   * @throws RdmaException if it is not available; the cause is {@link #unavailabilityCause()}
   */
  public static void ensureAvailable() {
    RdmaException cause = unavailabilityCause();
    if (cause != null) {
      throw RdmaException.because("gpuverbs is not available: ", cause);
    }
  }

  /**
   * The version of this library.
   *
   * @return such as {@code 0.1.0}
   */
  public static String version() {
    return VERSION;
  }
}
