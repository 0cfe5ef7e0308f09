// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.SendQueue;
import org.jspecify.annotations.Nullable;

/** Who uses a queue pair: its initiators and batches. Frees its memory when all are out. */
final class QueuePairUsers {
  private final QueuePair qp;
  private final boolean exclusive;
  private final Set<Batch> batches = ConcurrentHashMap.newKeySet();
  private final List<Initiator> lanes = new CopyOnWriteArrayList<>();
  private volatile @Nullable Initiator last;

  QueuePairUsers(QueuePair qp) {
    this.qp = qp;
    this.exclusive = qp.options().policy().exclusive();
  }

  /** Notes who submits; with the gate held. Costs one load while it stays the same. */
  void serve(Initiator initiator) {
    if (last != initiator) {
      admit(initiator);
    }
  }

  /**
   * Lets an initiator in without the gate's count if the gate is open: {@link #awaitUnused} waits
   * for it by its own mark, which must be set, with this queue pair in it, before this is asked.
   */
  boolean admits(Initiator initiator) {
    if (last != initiator) {
      if (!qp.gate().enter()) {
        return false;
      }
      try {
        admit(initiator);
      } finally {
        qp.gate().exit();
      }
    }
    return qp.gate().open();
  }

  private synchronized void admit(Initiator initiator) {
    Initiator owner = last;
    if (initiator instanceof CpuLanes && qp.gpuQueue() != null) {
      throw new IllegalStateException(
          qp
              + " is a queue pair of a GPU: "
              + initiator
              + " may not submit to it; use a GpuStream");
    }
    if (exclusive) {
      if (owner != null && owner != initiator && !Holders.gone(owner)) {
        throw new IllegalStateException(
            qp
                + " is EXCLUSIVE and belongs to "
                + owner
                + ": "
                + initiator
                + " may not submit to it");
      }
      if (initiator.lanes() > 1) {
        throw new IllegalStateException(
            qp
                + " is EXCLUSIVE, which means one submitter: "
                + initiator
                + " has "
                + initiator.lanes());
      }
    }
    if (!lanes.contains(initiator)) {
      // One that is still closing may have lanes in this queue: it stays, to be waited for.
      lanes.removeIf(Holders::gone);
      lanes.add(initiator);
    }
    last = initiator;
  }

  void add(Batch batch) {
    batches.add(batch);
  }

  void remove(Batch batch) {
    batches.remove(batch);
  }

  /** With the gate closed or paused: whether all are out by the deadline. */
  boolean awaitUnused(long deadline) {
    GpuQueue gpu = qp.gpuQueue();
    // The gate first: with nobody behind it no initiator is added any more.
    return qp.gate().awaitUnused(deadline)
        && awaitSubmits(deadline)
        && awaitLanes(deadline)
        && (gpu == null || gpu.awaitKernels(deadline));
  }

  private boolean awaitSubmits(long deadline) {
    for (Initiator initiator : lanes) {
      if (!Holders.awaitSubmit(initiator, qp, deadline)) {
        return false;
      }
    }
    return true;
  }

  private boolean awaitLanes(long deadline) {
    for (Initiator initiator : lanes) {
      while (!Holders.idle(initiator, qp)) {
        if (Deadline.passed(deadline)) {
          return false;
        }
        LockSupport.parkNanos(20_000);
      }
    }
    return true;
  }

  /** With the gate closed: ends the queue, and frees it if all are out by the deadline. */
  void release(long deadline) {
    SendQueue queue = qp.queue();
    queue.mark(SendQueue.STATE_CLOSED);
    boolean free = awaitUnused(deadline);
    boolean detached = detachNic(!free);
    leave(qp.options().sendQueue(), qp.depth(), detached, deadline);
    leave(qp.options().receiveQueue(), qp.options().receiveDepth(), detached, deadline);
    free &= detached;
    GpuQueue gpu = qp.gpuQueue();
    if (!free) {
      Quarantine.report(qp.toString(), null);
      if (gpu != null) {
        gpu.quarantine();
      }
      return;
    }
    batches.forEach(batch -> batch.closeWithParent(deadline));
    ReceiveQueue receives = qp.receives();
    if (receives != null) {
      receives.free();
    }
    if (gpu == null) {
      queue.destroy();
    } else {
      gpu.destroy(Deadline.after(Gpu.CLOSE_TIMEOUT));
    }
  }

  /** Whether the NIC touches the queue's memory no more. */
  private boolean detachNic(boolean inUse) {
    try {
      qp.served().close(inUse);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  private void leave(@Nullable CompletionQueue cq, int room, boolean detached, long deadline) {
    if (cq != null) {
      cq.unroute(qp.number());
      if (detached) {
        // Its number may be given to another queue pair that uses the same completion queue.
        cq.drop(qp.number(), deadline);
        cq.detach(room);
      } else {
        cq.quarantine();
      }
    }
  }
}
