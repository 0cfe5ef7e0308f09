// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.function.BooleanSupplier;
import org.gpuverbs.internal.queue.Deadline;

/** Waits for conditions, never for time. */
final class Await {
  private Await() {}

  static void until(BooleanSupplier condition) {
    long deadline = Deadline.after(Pair.TIMEOUT);
    IdleStrategy idle = IdleStrategy.backoff();
    while (!condition.getAsBoolean()) {
      if (Deadline.passed(deadline)) {
        throw new AssertionError("the condition did not come true in " + Pair.TIMEOUT);
      }
      idle.idle(0);
    }
  }
}
