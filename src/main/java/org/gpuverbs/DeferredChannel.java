// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;
import org.gpuverbs.internal.deferred.DeviceEvents;
import org.gpuverbs.internal.deferred.Outlet;
import org.gpuverbs.internal.deferred.SendListener;
import org.jspecify.annotations.Nullable;

/**
 * The way from a source to a destination, on which a {@link DeferredSender} keeps order. Any
 * thread; the order of one thread's sends is that of its calls.
 *
 * <p>Each send copies the batch's requests and inline data: the batch may be changed, submitted or
 * closed at once, the memory that it names may be changed once the source is reusable. Calls that
 * return a ticket allocate nothing.
 */
public final class DeferredChannel extends SendChannel {
  private final Destination destination;

  DeferredChannel(DeferredSender sender, long source, Destination destination, QueuePairPort port) {
    super(sender, source, port);
    this.destination = destination;
  }

  /**
   * Where it leads.
   *
   * @return as given to {@link DeferredSender#channel(long, Destination)}
   */
  public Destination destination() {
    return destination;
  }

  /**
   * Sends what waits for no device, in the channel's order: behind deferred sends if it is ordered.
   *
   * @param batch the requests
   * @param order what it may overtake
   * @return a ticket of the sender; or a status, and nothing was taken: {@link Status#FULL} if the
   *     sender has no room, {@link Status#CHANNEL_ERROR}, or the status of a submit
   * @throws IllegalStateException if the sender or the batch is closed, or another thread is using
   *     the batch
   */
  public long send(Batch batch, SendOrder order) {
    return send(batch, order, null, null, null);
  }

  /**
   * Sends once the work that is now on a stream is over.
   *
   * @param batch the requests
   * @param order what it may overtake
   * @param after the stream that produces the source
   * @return as {@link #send(Batch, SendOrder)}; {@link Status#DEVICE_ERROR} if the stream has
   *     failed already
   * @throws IllegalStateException as {@link #send(Batch, SendOrder)}, and if the stream is
   *     capturing a graph
   */
  public long send(Batch batch, SendOrder order, DeviceStream after) {
    return send(batch, order, Objects.requireNonNull(after, "after"), null, null);
  }

  /**
   * Sends once the work that is now on several streams is over.
   *
   * @param batch the requests
   * @param order what it may overtake
   * @param after the streams that produce the source; not kept
   * @return as {@link #send(Batch, SendOrder, DeviceStream)}
   * @throws IllegalStateException as {@link #send(Batch, SendOrder, DeviceStream)}
   */
  public long send(Batch batch, SendOrder order, DeviceStream... after) {
    return send(batch, order, null, after, null);
  }

  /**
   * As {@link #send(Batch, SendOrder, DeviceStream...)}, with stages.
   *
   * @param batch the requests
   * @param order what it may overtake
   * @param after the streams that produce the source; none for a host-only send
   * @return the send; its stages fail if it was not taken
   * @throws IllegalStateException as {@link #send(Batch, SendOrder, DeviceStream)}
   */
  public DeferredSend sendAsync(Batch batch, SendOrder order, DeviceStream... after) {
    DeferredSend.Stages stages = new DeferredSend.Stages("send of " + this, sender.executor());
    return new DeferredSend(sender, stages, send(batch, order, null, after, stages));
  }

  private long send(
      Batch batch,
      SendOrder order,
      @Nullable DeviceStream one,
      DeviceStream @Nullable [] more,
      @Nullable SendListener listener) {
    if (!sender.gate().enter()) {
      throw sender.closed();
    }
    try {
      boolean ordered = order == SendOrder.ORDERED;
      if (ordered && flow.failed()) {
        return Status.CHANNEL_ERROR;
      }
      int idle = idle(one, more);
      if (idle < 0) {
        return Status.DEVICE_ERROR;
      }
      SendSlot slot = take(ordered, listener);
      if (slot == null) {
        return Status.FULL;
      }
      boolean taken = false;
      try {
        slot.sourceless(listener != null && batch.sourceless());
        long ticket = Status.PENDING;
        if (idle == DeviceEvents.DONE && queue.tryEnter()) {
          try {
            ticket = sendNow(slot, batch, ordered);
          } finally {
            queue.exit();
          }
        }
        if (ticket == Status.PENDING) {
          ticket = sendLater(slot, batch, idle, one, more);
        }
        taken = ticket >= 0;
        return ticket;
      } finally {
        if (!taken) {
          queue.giveBack(slot);
        }
      }
    } finally {
      sender.gate().exit();
    }
  }

  /** With the lock: a ticket, a status, or PENDING if something is ahead. */
  private long sendNow(SendSlot slot, Batch batch, boolean ordered) {
    Outlet outlet = queue.direct(flow, ordered);
    if (outlet == null) {
      return Status.PENDING;
    }
    queue.sending(slot);
    long result = ((QueuePairOutlet) outlet).release(slot, batch);
    if (result >= 0) {
      return queue.sent(slot, outlet, result);
    }
    if (result == Outlet.RETRY) {
      slot.copy(batch);
      return queue.admitInside(slot);
    }
    return result;
  }

  private long sendLater(
      SendSlot slot,
      Batch batch,
      int idle,
      @Nullable DeviceStream one,
      DeviceStream @Nullable [] more) {
    slot.copy(batch);
    if (idle != DeviceEvents.DONE && !mark(slot, one, more)) {
      return Status.DEVICE_ERROR;
    }
    return queue.admit(slot);
  }

  /** Such as {@code channel 3 to QueuePair 17}. */
  @Override
  public String toString() {
    return "channel " + source + " to " + destination;
  }
}
