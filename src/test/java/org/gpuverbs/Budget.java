// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;

/**
 * Keeps a measurement within its time: how much one run may do, and whether another case may begin.
 */
final class Budget {
  private final long end;
  private final double runSeconds;

  /** So long from now in all, and for each run. */
  Budget(Duration all, Duration run) {
    end = System.nanoTime() + all.toNanos();
    runSeconds = run.toNanos() / 1e9;
  }

  boolean isOver() {
    return System.nanoTime() - end > 0;
  }

  /**
   * Of the rounds wanted as many as a run has time for, by what some have taken; {@code least} at
   * least.
   */
  int rounds(int wanted, int least, int tried, double seconds) {
    double fit = tried * runSeconds / Math.max(seconds, 1e-9);
    return (int) Math.max(least, Math.min(wanted, fit));
  }
}
