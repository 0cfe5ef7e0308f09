// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import org.gpuverbs.GpuVerbs;

/** The commands of {@code java -jar}. */
public final class Main {
  private Main() {}

  /** Runs the command named by the first argument. */
  public static void main(String[] args) {
    System.out.println("gpuverbs " + GpuVerbs.version());
  }
}
