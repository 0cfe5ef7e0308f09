// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.concurrent.locks.LockSupport;

/** Spins, yields, parks. */
final class BackoffIdleStrategy implements IdleStrategy {
  private static final int SPINS = 16;
  private static final int YIELDS = 256;
  private static final long FIRST_PARK_NANOS = 1_000;
  private static final long LAST_PARK_NANOS = 1_000_000;

  private int looks;
  private long park = FIRST_PARK_NANOS;

  @Override
  public void idle(int workCount) {
    if (workCount != 0) {
      looks = 0;
      park = FIRST_PARK_NANOS;
    } else if (looks < SPINS) {
      looks++;
      Thread.onSpinWait();
    } else if (looks < SPINS + YIELDS) {
      looks++;
      Thread.yield();
    } else {
      LockSupport.parkNanos(park);
      park = Math.min(park * 2, LAST_PARK_NANOS);
    }
  }
}
