// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;
import org.gpuverbs.internal.deferred.DeviceEvents;
import org.gpuverbs.internal.deferred.Outlet;
import org.gpuverbs.internal.deferred.SendListener;
import org.jspecify.annotations.Nullable;

/**
 * The way from a source to an inbox of the same JVM: instead of the data its descriptor is sent. As
 * with other channels order is kept, and nothing waits. Any thread.
 */
public final class LocalChannel extends SendChannel {
  private final LocalInbox inbox;

  LocalChannel(DeferredSender sender, long source, LocalInbox inbox) {
    super(sender, source, inbox.port(sender));
    this.inbox = inbox;
  }

  /**
   * Sends a descriptor of data that is there.
   *
   * @param address where the data begins, on the host or a device
   * @param length bytes
   * @param tag what the receiver shall know of it
   * @param order what it may overtake
   * @return a ticket of the sender; or {@link Status#FULL}, {@link Status#CHANNEL_ERROR} or {@link
   *     Status#CLOSED}, and nothing was taken
   * @throws IllegalStateException if the sender is closed
   */
  public long send(long address, long length, long tag, SendOrder order) {
    return send(address, length, tag, order, null, null);
  }

  /**
   * Sends a descriptor of data that a stream produces: once it is there, or at once with the
   * stream's event, as the inbox wants it.
   *
   * @param address where the data begins, on the host or a device
   * @param length bytes
   * @param tag what the receiver shall know of it
   * @param order what it may overtake
   * @param after the stream that produces the data
   * @return as {@link #send(long, long, long, SendOrder)}; {@link Status#DEVICE_ERROR} if the
   *     stream has failed already
   * @throws IllegalStateException if the sender is closed, or the stream is capturing a graph
   */
  public long send(long address, long length, long tag, SendOrder order, DeviceStream after) {
    return send(address, length, tag, order, Objects.requireNonNull(after, "after"), null);
  }

  /**
   * As {@link #send(long, long, long, SendOrder, DeviceStream)}, with stages.
   *
   * @param address where the data begins, on the host or a device
   * @param length bytes
   * @param tag what the receiver shall know of it
   * @param order what it may overtake
   * @param after the stream that produces the data; null if the data is there
   * @return the send; its stages fail if it was not taken
   * @throws IllegalStateException if the sender is closed, or the stream is capturing a graph
   */
  public DeferredSend sendAsync(
      long address, long length, long tag, SendOrder order, @Nullable DeviceStream after) {
    DeferredSend.Stages stages = new DeferredSend.Stages("send of " + this, sender.executor());
    return new DeferredSend(sender, stages, send(address, length, tag, order, after, stages));
  }

  private long send(
      long address,
      long length,
      long tag,
      SendOrder order,
      @Nullable DeviceStream after,
      @Nullable SendListener listener) {
    if (!sender.gate().enter()) {
      throw sender.closed();
    }
    try {
      boolean ordered = order == SendOrder.ORDERED;
      if (ordered && flow.failed()) {
        return Status.CHANNEL_ERROR;
      }
      int idle = idle(after, null);
      if (idle < 0) {
        return Status.DEVICE_ERROR;
      }
      SendSlot slot = take(ordered, listener);
      if (slot == null) {
        return Status.FULL;
      }
      slot.describe(address, length, tag, source);
      boolean taken = false;
      try {
        if (after != null && idle != DeviceEvents.DONE && !mark(slot, after)) {
          return Status.DEVICE_ERROR;
        }
        long ticket = sendNow(slot, ordered, idle == DeviceEvents.DONE || inbox.announced());
        if (ticket == Status.PENDING) {
          ticket = queue.admit(slot);
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

  /** A ticket, a status, or PENDING if something is ahead. */
  private long sendNow(SendSlot slot, boolean ordered, boolean ready) {
    if (!ready || !queue.tryEnter()) {
      return Status.PENDING;
    }
    try {
      Outlet outlet = queue.direct(flow, ordered);
      if (outlet == null) {
        return Status.PENDING;
      }
      queue.sending(slot);
      long result = ((LocalInbox.InboxOutlet) outlet).release(slot);
      if (result >= 0) {
        return queue.sent(slot, outlet, result);
      }
      return result == Outlet.RETRY ? queue.admitInside(slot) : result;
    } finally {
      queue.exit();
    }
  }

  /** Either the slot waits for the event, or its receiver gets it. */
  private boolean mark(SendSlot slot, DeviceStream after) {
    if (!inbox.announced()) {
      return mark(slot, after, null);
    }
    DeviceEvents events = after.events();
    long event = events.record();
    if (event < 0) {
      return false;
    }
    slot.announce(events, event);
    return true;
  }

  /** Such as {@code channel 3 to an inbox of 64 messages}. */
  @Override
  public String toString() {
    return "channel " + source + " to " + inbox;
  }
}
