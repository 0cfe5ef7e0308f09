// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** What is available on this machine. Any thread. */
public final class GpuVerbs {
  private GpuVerbs() {}

  /**
   * Returns the version of this library.
   *
   * @return the version, such as {@code 0.1.0}
   */
  public static String version() {
    return "0.1.0";
  }
}
