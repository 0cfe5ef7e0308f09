// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.DeferredQueue;
import org.gpuverbs.internal.deferred.DeviceEvents;
import org.gpuverbs.internal.deferred.Slot;
import org.jspecify.annotations.Nullable;

/**
 * A slot with what is sent: a copy of a batch, or a message to this JVM. The copy's memory is kept
 * from send to send and grows when it must.
 */
final class SendSlot extends Slot {
  private final Initiator initiator;
  private @Nullable BatchMemory copy;
  private @Nullable QueuePair builtFor;
  private int requests;
  private int wqebbs;

  // A message to this JVM; its stream is null if the data is there.
  private long address;
  private long length;
  private long tag;
  private long source;
  private @Nullable DeviceEvents stream;
  private long event;

  SendSlot(int index, Initiator initiator) {
    super(index);
    this.initiator = initiator;
  }

  /** From now on the caller may change the batch. */
  void copy(Batch batch) {
    batch.enter();
    try {
      BatchMemory from = batch.memory();
      BatchMemory to = copy;
      if (to == null || !to.suits(from)) {
        BatchMemory larger = new BatchMemory(batch.queuePair(), from.bytes());
        if (to != null) {
          // The slot's last send is over, so that nobody reads it.
          to.free();
        }
        to = larger;
        copy = larger;
      }
      to.copyFrom(from, batch.size());
      requests = batch.size();
      wqebbs = batch.wqebbs();
      builtFor = batch.queuePair();
    } finally {
      batch.exit();
    }
  }

  /** Submits the copy: a ticket or a status. */
  long submit(QueuePair qp) {
    BatchMemory memory = copy;
    if (memory == null) {
      throw new IllegalStateException("nothing to send");
    }
    if (qp != builtFor) {
      requireFits(memory, requests, wqebbs, qp, builtFor);
    }
    return submit(qp, memory, requests, wqebbs);
  }

  /** Submits the batch itself, without a copy: a ticket or a status. */
  long submit(QueuePair qp, Batch batch) {
    batch.enter();
    try {
      if (qp != batch.queuePair()) {
        requireFits(batch.memory(), batch.size(), batch.wqebbs(), qp, batch.queuePair());
      }
      return submit(qp, batch.memory(), batch.size(), batch.wqebbs());
    } finally {
      batch.exit();
    }
  }

  private long submit(QueuePair qp, BatchMemory memory, int count, int blocks) {
    return switch (initiator) {
      case CpuLanes lanes -> lanes.submit(qp, memory, count, blocks);
      case GpuStream stream -> {
        try {
          yield stream.submit(qp, memory, count, blocks);
        } catch (RdmaException e) {
          throw new RdmaException(e.getMessage(), Status.DEVICE_ERROR, e.errno(), 0, "", e);
        }
      }
    };
  }

  private static void requireFits(
      BatchMemory memory, int requests, int wqebbs, QueuePair to, @Nullable QueuePair from) {
    if (from == null || to.nic() != from.nic()) {
      throw new IllegalStateException(
          "the batch was built for " + from + ", and " + to + " is of another NIC");
    }
    if (wqebbs > to.depth()) {
      throw BatchBuilder.tooLarge(wqebbs, to.depth());
    }
    for (int i = 0; i < requests; i++) {
      if (memory.namesPeer(i)) {
        throw new IllegalStateException(
            "request "
                + i
                + " names memory of the peer of "
                + from
                + " and can't go to "
                + to
                + ": use Send or SendImmediate for destinations that move");
      }
    }
  }

  void describe(long where, long bytes, long about, long from) {
    address = where;
    length = bytes;
    tag = about;
    source = from;
    stream = null;
  }

  /** The receiver gets the event, and releases it. */
  void announce(DeviceEvents on, long mark) {
    stream = on;
    event = mark;
  }

  LocalMessage message(DeferredQueue queue) {
    DeviceEvents on = stream;
    stream = null;
    return new LocalMessage(queue, this, generation(), address, length, tag, source, on, event);
  }

  @Override
  protected void withdrawn() {
    DeviceEvents on = stream;
    stream = null;
    if (on != null) {
      on.release(event);
    }
  }

  @Override
  protected void dispose() {
    BatchMemory memory = copy;
    copy = null;
    if (memory != null) {
      if (Holders.readsAtOnce(initiator)) {
        memory.free();
      } else {
        Holders.adopt(initiator, memory);
      }
    }
  }

  void sourceless(boolean now) {
    sourceFree(now);
  }
}
