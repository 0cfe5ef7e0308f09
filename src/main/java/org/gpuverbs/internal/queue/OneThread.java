// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Checks that an object is used by one thread at a time. Not reentrant; allocates nothing unless it
 * refuses.
 */
public final class OneThread {
  private static final VarHandle HOLDER;

  static {
    try {
      HOLDER = MethodHandles.lookup().findVarHandle(OneThread.class, "holder", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String what;

  private volatile @Nullable Thread holder;

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
    HOLDER.setRelease(this, null);
  }

  private static String name(@Nullable Thread thread) {
    return thread == null
        ? "another thread"
        : "thread \"" + thread.getName() + "\" #" + thread.threadId();
  }
}
