// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

/**
 * Waits between two looks at the same word: a few tries, then the core is offered to others, since
 * on a small machine the NIC's thread may need it. One thread.
 */
final class Idle {
  private static final int SPINS = 64;
  private static final long LOOK_EVERY = 1024;

  private final long deadline;
  private long tries;

  Idle(long nanos) {
    deadline = System.nanoTime() + nanos;
  }

  /** False once the time is up; looked at now and then. */
  boolean again() {
    if (tries++ < SPINS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
    return tries % LOOK_EVERY != 0 || System.nanoTime() < deadline;
  }
}
