// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Slots on their way to the owner of the queue: any thread pushes (lock-free), one takes all of
 * them at once (wait-free), in the order in which they were pushed. A slot is in at most one such
 * stack of a kind at a time, since its link is its own.
 */
final class SlotStack {
  private static final VarHandle TOP;

  static {
    try {
      TOP = MethodHandles.lookup().findVarHandle(SlotStack.class, "top", Slot.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Which of a slot's links is used. */
  enum Kind {
    INCOMING,
    NOTICE
  }

  private final Kind kind;

  private volatile @Nullable Slot top;

  SlotStack(Kind kind) {
    this.kind = kind;
  }

  boolean isEmpty() {
    return top == null;
  }

  void push(Slot slot) {
    Slot now;
    do {
      now = top;
      link(slot, now);
    } while (!TOP.compareAndSet(this, now, slot));
  }

  /** The oldest, from which {@link #after} leads to the newest; null if there is none. */
  @Nullable Slot takeAll() {
    if (top == null) {
      return null;
    }
    Slot slot = (Slot) TOP.getAndSet(this, null);
    Slot oldest = null;
    while (slot != null) {
      Slot below = after(slot);
      link(slot, oldest);
      oldest = slot;
      slot = below;
    }
    return oldest;
  }

  @Nullable Slot after(Slot slot) {
    return kind == Kind.INCOMING ? slot.nextIncoming : slot.nextNotice;
  }

  private void link(Slot slot, @Nullable Slot to) {
    if (kind == Kind.INCOMING) {
      slot.nextIncoming = to;
    } else {
      slot.nextNotice = to;
    }
  }
}
