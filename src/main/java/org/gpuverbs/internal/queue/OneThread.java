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
      HOLDER = lookup.findVarHandle(OneThread.class, "holder", Object.class);
      EXITS = lookup.findVarHandle(OneThread.class, "exits", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String what;

  /** What the one inside came for; null: nobody is. */
  private volatile @Nullable Object holder;

  /** For messages. */
  private @Nullable Thread inside;

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
    enter(this);
  }

  /**
   * As {@link #enter()}, saying what for, so that {@link #awaitExit} can tell.
   *
   * @throws IllegalStateException if another call is inside
   */
  public void enter(Object what) {
    if (!HOLDER.compareAndSet(this, null, what)) {
      throw new IllegalStateException(
          this.what
              + " serves one thread at a time: "
              + name(Thread.currentThread())
              + " called while "
              + name(inside)
              + " is inside");
    }
    inside = Thread.currentThread();
  }

  /** As {@link #enter}, and false if another call is inside. */
  public boolean tryEnter() {
    if (!HOLDER.compareAndSet(this, null, this)) {
      return false;
    }
    inside = Thread.currentThread();
    return true;
  }

  /** Ends what {@link #enter} began. */
  public void exit() {
    EXITS.setRelease(this, exits + 1);
    HOLDER.setRelease(this, null);
  }

  /**
   * Waits until whoever is inside now has left, if that one came for {@code what} or that is null;
   * false if they had not by the deadline (of System.nanoTime). For one who has set a flag that
   * everybody reads after {@link #enter}: since entering is a compare-and-set and the flag
   * volatile, either the one inside is seen here, or it sees the flag. Those who enter later need
   * not be waited for.
   */
  public boolean awaitExit(@Nullable Object what, long deadlineNanos) {
    if (!holds(what)) {
      return true;
    }
    long before = (long) EXITS.getAcquire(this);
    for (int looks = 0; holds(what) && (long) EXITS.getAcquire(this) == before; looks++) {
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

  private boolean holds(@Nullable Object what) {
    Object now = holder;
    return what == null ? now != null : now == what;
  }

  private static String name(@Nullable Thread thread) {
    return thread == null
        ? "another thread"
        : "thread \"" + thread.getName() + "\" #" + thread.threadId();
  }
}
