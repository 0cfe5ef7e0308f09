// SPDX-License-Identifier: Apache-2.0
package consumer;

import org.gpuverbs.GpuVerbs;

/** Uses gpuverbs as its users do, and fails unless every byte arrives. */
public final class Consumer {
  private Consumer() {}

  /** Takes {@code named} or {@code unnamed}: the kind of module that gpuverbs must be in. */
  public static void main(String[] args) {
    boolean named = GpuVerbs.class.getModule().isNamed();
    if (named != args[0].equals("named")) {
      throw new AssertionError("gpuverbs is in " + GpuVerbs.class.getModule());
    }
    System.out.println("gpuverbs " + GpuVerbs.version() + " in " + GpuVerbs.class.getModule());
  }
}
