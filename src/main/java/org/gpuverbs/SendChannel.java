// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.DeferredQueue;
import org.gpuverbs.internal.deferred.DeviceEvents;
import org.gpuverbs.internal.deferred.Flow;
import org.gpuverbs.internal.deferred.Port;
import org.gpuverbs.internal.deferred.SendListener;
import org.jspecify.annotations.Nullable;

/** What channels have in common: order, and the marks of what a send waits for. */
abstract sealed class SendChannel permits DeferredChannel, LocalChannel {
  private static final DeviceStream[] NONE = {};

  final DeferredSender sender;
  final DeferredQueue queue;
  final Flow flow;
  final long source;

  SendChannel(DeferredSender sender, long source, Port port) {
    this.sender = sender;
    this.queue = sender.queue();
    this.flow = new Flow(port);
    this.source = source;
  }

  /**
   * The number that the channel was made with.
   *
   * @return the source
   */
  public long source() {
    return source;
  }

  /**
   * Whether an ordered send has failed since the last {@link #reset}: further ones are refused with
   * {@link Status#CHANNEL_ERROR}, since they would overtake it.
   *
   * @return true until reset
   */
  public boolean isFailed() {
    return flow.failed();
  }

  /**
   * Takes ordered sends again after a failure. Must not be called from within a {@link
   * Destination}.
   *
   * @throws IllegalStateException if ordered sends of this channel are still under way, or others
   *     keep the sender busy for seconds
   */
  public void reset() {
    if (!queue.reset(flow)) {
      throw new IllegalStateException(
          this + " has ordered sends under way: let the sender work until they are over");
    }
  }

  /** Whether nothing needs to be waited for: DONE, NOT_YET, or negative. */
  final int idle(@Nullable DeviceStream one, DeviceStream @Nullable [] more) {
    int result = one == null ? DeviceEvents.DONE : idle(one);
    for (DeviceStream stream : more == null ? NONE : more) {
      int next = idle(stream);
      if (next < 0) {
        return next;
      }
      result = Math.max(result, next);
    }
    return result;
  }

  private int idle(DeviceStream stream) {
    int result = stream.events().idle();
    return result == DeviceEvents.NOT_YET && sender.submitsOn(stream) ? DeviceEvents.DONE : result;
  }

  /** Marks the streams' work for the slot; false if a device has failed. */
  final boolean mark(SendSlot slot, @Nullable DeviceStream one, DeviceStream @Nullable [] more) {
    if (one != null && !mark(slot, one)) {
      return false;
    }
    for (DeviceStream stream : more == null ? NONE : more) {
      if (!sender.submitsOn(stream) && !mark(slot, stream)) {
        return false;
      }
    }
    return true;
  }

  private static boolean mark(SendSlot slot, DeviceStream stream) {
    DeviceEvents events = stream.events();
    long event = events.record();
    if (event < 0) {
      return false;
    }
    slot.await(events, event);
    return true;
  }

  /** A slot for a send of this channel; null if there is none. */
  @Nullable SendSlot take(boolean ordered, @Nullable SendListener listener) {
    SendSlot slot = (SendSlot) queue.take();
    if (slot != null) {
      queue.prepare(slot, flow, ordered, listener);
    }
    return slot;
  }
}
