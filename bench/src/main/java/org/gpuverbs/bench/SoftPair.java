// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CompletionQueue;
import org.gpuverbs.Completions;
import org.gpuverbs.Initiator;
import org.gpuverbs.LocalMemory;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.Path;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.QueuePairState;
import org.gpuverbs.Status;
import org.gpuverbs.SubmitPolicy;
import org.gpuverbs.WorkRequest;

/** Queue pairs of one software NIC, each connected to a peer there; one thread drives them. */
final class SoftPair implements AutoCloseable {
  private static final int RECEIVES = 1024;
  private static final int ALIGNED = 4096;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Nic nic;
  private final List<QueuePair> near = new ArrayList<>();
  private final List<QueuePair> far = new ArrayList<>();
  private final MemoryRegion local;
  private final MemoryRegion remote;
  private final LocalMemory[] landing;
  private final CompletionQueue received;
  private final Completions completions = new Completions(RECEIVES);
  private final int size;

  SoftPair(SubmitPolicy policy, int queuePairs, int size) {
    Quiet.logs();
    this.size = size;
    nic = Nic.open();
    received = nic.completionQueue(RECEIVES);
    QueuePairOptions here =
        QueuePairOptions.builder().path(Path.SOFT).policy(policy).depth(1024).build();
    // One of them can receive: receives are posted for the first pair only.
    QueuePairOptions receiver =
        QueuePairOptions.builder()
            .path(Path.SOFT)
            .receiveDepth(RECEIVES)
            .receiveQueue(received)
            .build();
    QueuePairOptions passive = QueuePairOptions.builder().path(Path.SOFT).depth(64).build();
    for (int i = 0; i < queuePairs; i++) {
      QueuePair a = nic.queuePair(here);
      QueuePair b = nic.queuePair(i == 0 ? receiver : passive);
      a.connect(b.address());
      b.connect(a.address());
      near.add(a);
      far.add(b);
    }
    long bytes = Math.max(size, ALIGNED);
    local = nic.allocate(bytes, Access.LOCAL_WRITE);
    remote = nic.allocate(bytes, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
    landing = new LocalMemory[] {remote.local(0, size)};
  }

  QueuePair queuePair(int index) {
    return near.get(index);
  }

  /** Requests of one kind, the last one signalled. */
  Batch batch(int queuePair, String operation, int requests) {
    LocalMemory mine = local.local(0, size);
    WorkRequest request =
        switch (operation) {
          case "NOP" -> new WorkRequest.Nop();
          case "WRITE" -> new WorkRequest.Write(mine, remote.remote(0, size));
          case "WRITE_INLINE" -> new WorkRequest.WriteInline(new byte[size], remote.remote());
          case "READ" -> new WorkRequest.Read(mine, remote.remote(0, size));
          case "SEND" -> new WorkRequest.Send(mine);
          case "FETCH_ADD" -> new WorkRequest.FetchAdd(local.local(0, 8), remote.remote(0, 8), 1);
          case "COMPARE_SWAP" ->
              new WorkRequest.CompareSwap(local.local(0, 8), remote.remote(0, 8), 0, 0);
          default -> throw new IllegalArgumentException(operation);
        };
    return Batch.of(near.get(queuePair), Batch.Signal.LAST, Collections.nCopies(requests, request));
  }

  /** Posts receives and takes completions of earlier ones; never more than fit. */
  void receive(int count) {
    for (int i = 0; i < count; i++) {
      while (far.getFirst().postReceive(0, landing) == Status.FULL) {
        if (received.poll(completions) == 0) {
          Thread.yield();
        }
      }
    }
    received.poll(completions);
  }

  /** Submits as soon as there is room. A NIC thread needs a core too, so this yields. */
  static long submit(Initiator initiator, Batch batch) {
    while (true) {
      long ticket = initiator.submit(batch);
      if (ticket >= 0) {
        return ticket;
      }
      if (ticket != Status.FULL && ticket != Status.BUSY) {
        throw new IllegalStateException(Status.describe(ticket));
      }
      Thread.yield();
    }
  }

  /** Waits for a ticket by polling. */
  static void complete(QueuePair queuePair, long ticket) {
    for (int tries = 0; ; tries++) {
      long status = queuePair.poll(ticket);
      if (status == Status.DONE) {
        return;
      }
      if (status != Status.PENDING) {
        throw new IllegalStateException(Status.describe(status));
      }
      if (tries < 64) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  /** Waits until all is complete; no queue pair may have failed. */
  void settle() {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    for (QueuePair qp : near) {
      while (qp.completed() != qp.counters().submitted()) {
        if (qp.state() != QueuePairState.READY || System.nanoTime() > deadline) {
          throw new IllegalStateException(qp + " is " + qp.state() + " at " + qp.counters());
        }
        Thread.yield();
      }
    }
  }

  @Override
  public void close() {
    nic.close();
  }
}
