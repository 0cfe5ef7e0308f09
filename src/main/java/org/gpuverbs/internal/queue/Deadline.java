// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import java.time.Duration;

/** Deadlines on System.nanoTime's scale. */
public final class Deadline {
  /** About 146 years: keeps differences of nanoTime values signed right. */
  private static final long FOREVER = Long.MAX_VALUE / 2;

  private Deadline() {}

  /**
   * The deadline that lies that far ahead.
   *
   * @throws IllegalArgumentException if the timeout is negative
   */
  public static long after(Duration timeout) {
    return System.nanoTime() + nanos(timeout);
  }

  /** Nanoseconds, at most about 146 years. */
  public static long nanos(Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("a timeout of " + timeout + ": take 0 or more");
    }
    return timeout.getSeconds() > FOREVER / 1_000_000_000L ? FOREVER : timeout.toNanos();
  }

  /** Whether it is over. */
  public static boolean passed(long deadline) {
    return System.nanoTime() - deadline >= 0;
  }
}
