// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One stream's pending events, in the stream's order. For the one thread that polls. */
final class EventLine {
  private static final int FIRST_LENGTH = 16;

  final DeviceEvents events;

  /** Rings of one length, a power of two. */
  private long[] handles = new long[FIRST_LENGTH];

  private @Nullable Waiter[] waiters = new Waiter[FIRST_LENGTH];
  private int head;
  private int size;

  EventLine(DeviceEvents events) {
    this.events = events;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /**
   * Two threads may record on one stream and arrive here the other way round; the head must be the
   * stream's oldest event all the same, since newer work may depend on what the older lets go.
   */
  void add(long event, Waiter waiter) {
    if (size == handles.length) {
      grow();
    }
    long order = events.order(event);
    int at = size;
    while (at > 0 && events.order(handles[index(at - 1)]) > order) {
      handles[index(at)] = handles[index(at - 1)];
      waiters[index(at)] = waiters[index(at - 1)];
      at--;
    }
    handles[index(at)] = event;
    waiters[index(at)] = waiter;
    size++;
  }

  private int index(int position) {
    return head + position & handles.length - 1;
  }

  private void grow() {
    int length = handles.length;
    long[] moved = Arrays.copyOf(handles, length * 2);
    @Nullable Waiter[] movedWaiters = Arrays.copyOf(waiters, length * 2);
    for (int i = 0; i < size; i++) {
      moved[i] = handles[index(i)];
      movedWaiters[i] = waiters[index(i)];
    }
    handles = moved;
    waiters = movedWaiters;
    head = 0;
  }

  /** Hands on what is over, up to {@code most} events; returns how many. */
  int poll(int most) {
    int over = 0;
    while (over < most && size > 0) {
      int result = events.query(handles[head]);
      if (result == DeviceEvents.NOT_YET) {
        break;
      }
      pop(result);
      over++;
    }
    return over;
  }

  /** Ends every wait with that result. */
  void abandon(int result) {
    while (size > 0) {
      pop(result);
    }
  }

  private void pop(int result) {
    long event = handles[head];
    Waiter waiter = waiters[head];
    waiters[head] = null;
    head = index(1);
    size--;
    try {
      if (waiter != null) {
        waiter.eventOver(events, result);
      }
    } finally {
      events.release(event);
    }
  }
}
