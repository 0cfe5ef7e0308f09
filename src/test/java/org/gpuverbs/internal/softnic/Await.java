// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.util.function.BooleanSupplier;

/** Waits for a condition, with a deadline. */
final class Await {
  private static final long NANOS = 20_000_000_000L;

  private Await() {}

  static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + NANOS;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline >= 0) {
        throw new AssertionError("not within 20 s: " + what);
      }
      Thread.yield();
    }
  }
}
