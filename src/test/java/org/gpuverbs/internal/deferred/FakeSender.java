// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sends numbers by a queue, as channels send batches. */
final class FakeSender {
  static final long NOT_TAKEN = -1;

  final DeferredQueue queue;

  FakeSender(int capacity) {
    queue = new DeferredQueue(capacity, NumberedSlot::new);
  }

  long send(Flow flow, boolean ordered, int number, List<FakeStream> after) {
    return send(flow, ordered, number, after, null);
  }

  /** A ticket, or a negative number if it was refused. */
  long send(
      Flow flow,
      boolean ordered,
      int number,
      List<FakeStream> after,
      @Nullable SendListener listener) {
    if (ordered && flow.failed()) {
      return NOT_TAKEN;
    }
    int idle = DeviceEvents.DONE;
    for (FakeStream stream : after) {
      int state = stream.idle();
      if (state < 0) {
        return NOT_TAKEN;
      }
      idle = Math.max(idle, state);
    }
    NumberedSlot slot = (NumberedSlot) queue.take();
    if (slot == null) {
      return Status.FULL;
    }
    queue.prepare(slot, flow, ordered, listener);
    slot.number = number;
    if (idle == DeviceEvents.DONE && queue.tryEnter()) {
      try {
        FakeOutlet outlet = (FakeOutlet) queue.direct(flow, ordered);
        if (outlet != null) {
          queue.sending(slot);
          long result = outlet.send(number);
          if (result >= 0) {
            return queue.sent(slot, outlet, result);
          }
          if (result == Outlet.RETRY) {
            return queue.admitInside(slot);
          }
          queue.giveBack(slot);
          return NOT_TAKEN;
        }
      } finally {
        queue.exit();
      }
    }
    for (FakeStream stream : after) {
      slot.await(stream, stream.record());
    }
    return queue.admit(slot);
  }

  /** Works until there is nothing to do but wait. */
  int work() {
    int all = 0;
    for (int work = queue.work(16); work > 0; work = queue.work(16)) {
      all += work;
    }
    return all;
  }
}
