// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock for sections of a few hundred nanoseconds. Not reentrant. NIC threads take a QP's locks by
 * {@link #tryLock} only, so that a QP that is being closed never stops the others.
 */
final class SpinLock {
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(SpinLock.class, "held", int.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static final int SPINS_BEFORE_YIELD = 64;

  @SuppressWarnings("unused")
  private int held;

  boolean tryLock() {
    return (int) HELD.getOpaque(this) == 0 && HELD.compareAndSet(this, 0, 1);
  }

  void lock() {
    for (int spins = 0; !tryLock(); spins++) {
      pause(spins);
    }
  }

  /** Whether the lock was taken before {@link System#nanoTime} reached the deadline. */
  boolean lock(long deadline) {
    for (int spins = 0; !tryLock(); spins++) {
      if (spins >= SPINS_BEFORE_YIELD && System.nanoTime() - deadline >= 0) {
        return false;
      }
      pause(spins);
    }
    return true;
  }

  void unlock() {
    HELD.setRelease(this, 0);
  }

  static void pause(int spins) {
    if (spins < SPINS_BEFORE_YIELD) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }
}
