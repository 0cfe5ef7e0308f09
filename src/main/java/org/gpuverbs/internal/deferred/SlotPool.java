// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of slots, and the tickets that name their sends: index and generation. A ticket
 * can be asked about long after its slot went on to other sends: it is delivered, unless the slot
 * remembers it as its last failure. Any thread.
 */
final class SlotPool {
  private static final int INDEX_BITS = 20;

  /** The most slots: a ticket has room for 2<sup>43</sup> generations of each. */
  static final int MAX_SIZE = 1 << INDEX_BITS;

  private final Slot[] slots;
  private final IndexStack free;

  SlotPool(int size, IntFunction<? extends Slot> maker) {
    slots = new Slot[size];
    for (int i = 0; i < size; i++) {
      slots[i] = maker.apply(i);
    }
    free = new IndexStack(size);
  }

  /** A slot that nobody else has; null if there is none. */
  @Nullable Slot take() {
    int index = free.pop();
    return index < 0 ? null : slots[index];
  }

  /** For another send. The slot must be recycled. */
  void free(Slot slot) {
    free.push(slot.index);
  }

  int size() {
    return slots.length;
  }

  /** How many are taken. */
  int used() {
    return slots.length - free.size();
  }

  Slot get(int index) {
    return slots[index];
  }

  static long ticket(Slot slot) {
    return slot.generation() << INDEX_BITS | slot.index;
  }

  static long generation(long ticket) {
    return ticket >>> INDEX_BITS;
  }

  /**
   * The slot of a ticket.
   *
   * @throws IllegalArgumentException if it is no ticket of this pool
   */
  Slot slot(long ticket) {
    int index = (int) ticket & MAX_SIZE - 1;
    if (ticket < 0 || index >= slots.length) {
      throw unknown(ticket);
    }
    return slots[index];
  }

  /**
   * What became of a send.
   *
   * @return {@link Status#DONE} once delivered, {@link Status#PENDING}, {@link Status#CANCELLED},
   *     {@link Status#EXPIRED}, or why it failed
   */
  int poll(long ticket) {
    Slot slot = slot(ticket);
    long word = slot.word();
    long generation = generation(ticket);
    if (Slot.generationOf(word) == generation) {
      return switch (Slot.stateOf(word)) {
        case Slot.WAITING, Slot.RELEASING, Slot.RELEASED -> Status.PENDING;
        case Slot.DELIVERED, Slot.RETURNED -> Status.DONE;
        case Slot.CANCELLED -> Status.CANCELLED;
        case Slot.FAILED -> failure(slot, generation);
        default -> throw unknown(ticket);
      };
    }
    if (Slot.generationOf(word) < generation) {
      throw unknown(ticket);
    }
    return slot.recall(generation, Status.EXPIRED);
  }

  /** The slot may be recycled meanwhile; then it remembers. */
  private static int failure(Slot slot, long generation) {
    int code = slot.code;
    return slot.generation() == generation ? code : slot.recall(generation, Status.EXPIRED);
  }

  /** One of the states of {@link Slot}; {@link Slot#FREE} if it is over: see {@link #poll}. */
  int state(long ticket) {
    long word = slot(ticket).word();
    return Slot.generationOf(word) == generation(ticket) ? Slot.stateOf(word) : Slot.FREE;
  }

  private static IllegalArgumentException unknown(long ticket) {
    return new IllegalArgumentException(ticket + " is no ticket of this sender");
  }
}
