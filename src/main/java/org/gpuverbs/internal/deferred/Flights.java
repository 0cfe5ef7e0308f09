// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What was released to one outlet and is not complete, oldest first: an outlet completes in order,
 * so that asking about the head is enough.
 */
final class Flights {
  private static final int FIRST_LENGTH = 16;

  final Outlet outlet;
  private long[] tickets = new long[FIRST_LENGTH];
  private @Nullable Slot[] slots = new Slot[FIRST_LENGTH];
  private int head;
  private int size;

  Flights(Outlet outlet) {
    this.outlet = outlet;
  }

  boolean isEmpty() {
    return size == 0;
  }

  void add(long ticket, Slot slot) {
    int length = tickets.length;
    if (size == length) {
      long[] moved = Arrays.copyOf(tickets, length * 2);
      @Nullable Slot[] movedSlots = Arrays.copyOf(slots, length * 2);
      for (int i = 0; i < size; i++) {
        moved[i] = tickets[index(i)];
        movedSlots[i] = slots[index(i)];
      }
      tickets = moved;
      slots = movedSlots;
      head = 0;
    }
    tickets[index(size)] = ticket;
    slots[index(size)] = slot;
    size++;
  }

  private int index(int position) {
    return head + position & tickets.length - 1;
  }

  /** The head's ticket; only if not empty. */
  long ticket() {
    return tickets[head];
  }

  @Nullable Slot pop() {
    Slot slot = slots[head];
    slots[head] = null;
    head = index(1);
    size--;
    return slot;
  }
}
