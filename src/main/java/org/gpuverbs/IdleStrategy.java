// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * What a waiting loop does between two looks. An instance serves one thread at a time.
 *
 * <p>None of them pins the carrier of a virtual thread.
 */
@FunctionalInterface
public interface IdleStrategy {
  /**
   * Called after each look.
   *
   * @param workCount what the look found: 0 for nothing; anything else starts the strategy over
   */
  void idle(int workCount);

  /**
   * Spins; the lowest latency, and a whole core.
   *
   * @return a strategy
   */
  static IdleStrategy spinning() {
    return work -> {
      if (work == 0) {
        Thread.onSpinWait();
      }
    };
  }

  /**
   * Yields at each look: for machines with fewer cores than busy threads.
   *
   * @return a strategy
   */
  static IdleStrategy yielding() {
    return work -> {
      if (work == 0) {
        Thread.yield();
      }
    };
  }

  /**
   * Sleeps at each look.
   *
   * @param pause how long; 1 ns or more
   * @return a strategy
   */
  static IdleStrategy sleeping(Duration pause) {
    long nanos = pause.toNanos();
    if (nanos < 1) {
      throw new IllegalArgumentException("pause is " + pause + ": take 1 ns or more");
    }
    return work -> {
      if (work == 0) {
        LockSupport.parkNanos(nanos);
      }
    };
  }

  /**
   * Spins, then yields, then sleeps ever longer, up to 1 ms. The default everywhere.
   *
   * @return a strategy
   */
  static IdleStrategy backoff() {
    return new BackoffIdleStrategy();
  }
}
