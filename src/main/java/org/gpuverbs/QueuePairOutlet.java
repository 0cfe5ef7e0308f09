// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.Outlet;
import org.gpuverbs.internal.deferred.Slot;
import org.gpuverbs.internal.shim.CudaCalls;
import org.jspecify.annotations.Nullable;

/** A queue pair between two resets, as somewhere to release sends to. For the lock's holder. */
final class QueuePairOutlet extends Outlet {
  /** How often a GPU is asked whether it is well. */
  private static final long LOOK_NANOS = 1_000_000;

  private final QueuePair queuePair;
  private final Initiator initiator;
  private final int generation;
  private final @Nullable Gpu gpu;

  /** When the GPU was last found well, and what is wrong with it. */
  private long looked = System.nanoTime();

  private @Nullable RdmaException sickness;

  QueuePairOutlet(QueuePair queuePair, Initiator initiator) {
    this.queuePair = queuePair;
    this.initiator = initiator;
    this.generation = queuePair.generation();
    this.gpu = initiator instanceof GpuStream stream ? stream.gpu() : null;
  }

  boolean is(QueuePair other) {
    return queuePair == other && generation == other.generation();
  }

  /** Without a copy where that is possible: a ticket, RETRY or a status. */
  long release(SendSlot slot, Batch batch) {
    if (Holders.readsAtOnce(initiator)) {
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
    long result =
        generation == queuePair.generation() ? queuePair.poll(ticket) : Status.NOT_CONNECTED;
    return result == Status.PENDING && gpu != null && sick(gpu) ? Status.DEVICE_ERROR : result;
  }

  /** In a dead context the kernel that would submit never runs. */
  private boolean sick(Gpu of) {
    long now = System.nanoTime();
    if (now - looked < LOOK_NANOS) {
      return sickness != null;
    }
    looked = now;
    if (of.tryEnter()) {
      try {
        sickness = CudaCalls.sickness(of.handle());
      } finally {
        of.exit();
      }
    }
    return sickness != null;
  }

  @Override
  protected @Nullable Throwable why(int result) {
    return result == Status.DEVICE_ERROR ? sickness : null;
  }

  @Override
  protected boolean letGo(Slot slot) {
    return Holders.idle(initiator, queuePair);
  }

  boolean isClosed() {
    return queuePair.gate().closed();
  }
}
