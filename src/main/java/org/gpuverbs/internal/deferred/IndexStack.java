// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The free ones of a fixed number of things, as a stack of their indexes. Any thread; lock-free:
 * some thread always gets on. The head carries a tag that changes with each operation, so that an
 * index which went and came back is noticed.
 */
final class IndexStack {
  private static final VarHandle HEAD;
  private static final VarHandle INT = MethodHandles.arrayElementVarHandle(int[].class);
  private static final int NONE = -1;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(IndexStack.class, "head", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Below each index: the next one, and how many there are with this one. */
  private final int[] next;

  private final int[] height;

  @SuppressWarnings("unused") // through HEAD
  private volatile long head;

  /** All of 0..size-1, the smallest on top. */
  IndexStack(int size) {
    next = new int[size];
    height = new int[size];
    for (int i = 0; i < size; i++) {
      next[i] = i + 1 < size ? i + 1 : NONE;
      height[i] = size - i;
    }
    head = pack(0, size > 0 ? 0 : NONE);
  }

  private static long pack(int tag, int index) {
    return (long) tag << 32 | index & 0xffff_ffffL;
  }

  private static int tag(long packed) {
    return (int) (packed >>> 32);
  }

  /** An index, or -1 if none is free. */
  int pop() {
    while (true) {
      long now = head;
      int index = (int) now;
      if (index == NONE) {
        return NONE;
      }
      // May be stale by now; then the tag has changed and the exchange fails.
      int below = (int) INT.getOpaque(next, index);
      if (HEAD.compareAndSet(this, now, pack(tag(now) + 1, below))) {
        return index;
      }
    }
  }

  /** Gives back what {@link #pop} gave. */
  void push(int index) {
    while (true) {
      long now = head;
      int top = (int) now;
      INT.setOpaque(next, index, top);
      INT.setOpaque(height, index, 1 + (top == NONE ? 0 : (int) INT.getOpaque(height, top)));
      if (HEAD.compareAndSet(this, now, pack(tag(now) + 1, index))) {
        return;
      }
    }
  }

  /** How many are free; exact when nobody is at it. */
  int size() {
    int top = (int) head;
    return top == NONE ? 0 : (int) INT.getOpaque(height, top);
  }
}
