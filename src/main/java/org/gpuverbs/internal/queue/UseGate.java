// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts who is inside an object's native memory, so that it is freed only when nobody is. Any
 * thread; enter and exit allocate nothing.
 */
public final class UseGate {
  private static final int CLOSED = 1 << 31;
  private static final int PAUSED = 1 << 30;
  private static final int FLAGS = CLOSED | PAUSED;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(UseGate.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // through STATE
  private volatile int state;

  /** Whether the caller may go in; then it must {@link #exit}. */
  public boolean enter() {
    int before = (int) STATE.getAndAdd(this, 1);
    if ((before & FLAGS) == 0) {
      return true;
    }
    exit();
    return false;
  }

  /** Ends what {@link #enter} began. */
  public void exit() {
    STATE.getAndAdd(this, -1);
  }

  /** Lets nobody in any more; false if it was so already. */
  public boolean close() {
    return ((int) STATE.getAndBitwiseOr(this, CLOSED) & CLOSED) == 0;
  }

  /** Lets nobody in until {@link #resume}; false if somebody else has paused or closed it. */
  public boolean pause() {
    while (true) {
      int now = state;
      if ((now & FLAGS) != 0) {
        return false;
      }
      if (STATE.compareAndSet(this, now, now | PAUSED)) {
        return true;
      }
    }
  }

  /** Ends what {@link #pause} began. */
  public void resume() {
    STATE.getAndBitwiseAnd(this, ~PAUSED);
  }

  /** Whether it lets anybody in, now. */
  public boolean open() {
    return (state & FLAGS) == 0;
  }

  /** Whether {@link #close} was called. */
  public boolean closed() {
    return (state & CLOSED) != 0;
  }

  /**
   * Waits until nobody is inside; false if somebody still was at the deadline (of System.nanoTime).
   */
  public boolean awaitUnused(long deadlineNanos) {
    for (int looks = 0; (state & ~FLAGS) != 0; looks++) {
      if (System.nanoTime() - deadlineNanos > 0) {
        return false;
      }
      if (looks < 100) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(20_000);
      }
    }
    return true;
  }
}
