// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Checks that an object is used by one thread at a time. Not reentrant; allocates nothing unless it
 * refuses.
 */
public final class OneThread {
  private static final VarHandle HOLDER;
  private static final VarHandle EXITS;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      HOLDER = lookup.findVarHandle(OneThread.class, "holder", Thread.class);
      EXITS = lookup.findVarHandle(OneThread.class, "exits", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String what;

  private volatile @Nullable Thread holder;

  /** How often somebody has left; written by the holder alone. */
  @SuppressWarnings("unused") // through EXITS
  private long exits;

  /** For an object that error messages call {@code what}. */
  public OneThread(String what) {
    this.what = what;
  }

  /**
   * Takes the object for the calling thread.
   *
   * @throws IllegalStateException if another call is inside
   */
  public void enter() {
    if (!HOLDER.compareAndSet(this, null, Thread.currentThread())) {
      throw new IllegalStateException(
          what
              + " serves one thread at a time: "
              + name(Thread.currentThread())
              + " called while "
              + name(holder)
              + " is inside");
    }
  }

  /** As {@link #enter}, and false if another call is inside. */
  public boolean tryEnter() {
    return HOLDER.compareAndSet(this, null, Thread.currentThread());
  }

  /** Ends what {@link #enter} began. */
  public void exit() {
    EXITS.setRelease(this, exits + 1);
    HOLDER.setRelease(this, null);
  }

  /**
   * Waits until whoever is inside now has left; false if they had not by the deadline (of
   * System.nanoTime). For one who has set a flag that everybody reads after {@link #enter}: since
   * entering is a compare-and-set and the flag volatile, either the one inside is seen here, or it
   * sees the flag. Those who enter later need not be waited for.
   */
  public boolean awaitExit(long deadlineNanos) {
    if (holder == null) {
      return true;
    }
    long before = (long) EXITS.getAcquire(this);
    for (int looks = 0; holder != null && (long) EXITS.getAcquire(this) == before; looks++) {
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

  private static String name(@Nullable Thread thread) {
    return thread == null
        ? "another thread"
        : "thread \"" + thread.getName() + "\" #" + thread.threadId();
  }
}
