// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.Outlet;
import org.gpuverbs.internal.deferred.Slot;

/** A queue pair between two resets, as somewhere to release sends to. For the lock's holder. */
final class QueuePairOutlet extends Outlet {
  private final QueuePair queuePair;
  private final CpuLanes initiator;
  private final int generation;

  QueuePairOutlet(QueuePair queuePair, CpuLanes initiator) {
    this.queuePair = queuePair;
    this.initiator = initiator;
    this.generation = queuePair.generation();
  }

  boolean is(QueuePair other) {
    return queuePair == other && generation == other.generation();
  }

  /** Without a copy where that is possible: a ticket, RETRY or a status. */
  long release(SendSlot slot, Batch batch) {
    if (initiator.readsAtOnce()) {
      return retry(slot.submit(queuePair, batch));
    }
    slot.copy(batch);
    return release(slot);
  }

  @Override
  protected long release(Slot slot) {
    return retry(((SendSlot) slot).submit(queuePair));
  }

  private static long retry(long result) {
    return result == Status.FULL || result == Status.BUSY ? RETRY : result;
  }

  @Override
  protected long poll(long ticket) {
    return generation == queuePair.generation() ? queuePair.poll(ticket) : Status.NOT_CONNECTED;
  }

  @Override
  protected boolean letGo(Slot slot) {
    return initiator.idle(queuePair.handle());
  }

  boolean isClosed() {
    return queuePair.gate().closed();
  }
}
