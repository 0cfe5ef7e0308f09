// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.DeferredChannel;
import org.gpuverbs.DeferredSender;
import org.gpuverbs.Destination;
import org.gpuverbs.HostStream;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.SendOrder;
import org.gpuverbs.Status;
import org.gpuverbs.WorkRequest;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Two connected queue pairs of one software NIC, and a sender with room for two bursts. */
@State(Scope.Thread)
public abstract class DeferredRig {
  static final int BURST = 4096;

  QueuePair qp;
  CpuLanes caller;
  Batch batch;
  DeferredSender sender;
  DeferredChannel channel;
  HostStream idle;
  private Nic nic;

  /** Connects. */
  @Setup(Level.Trial)
  public void open() {
    nic = Nic.open();
    MemoryRegion memory = nic.allocate(4096, Access.values());
    QueuePairOptions deep = QueuePairOptions.builder().depth(4 * BURST).build();
    qp = nic.queuePair(deep);
    QueuePair peer = nic.queuePair(deep);
    qp.connect(peer.address());
    peer.connect(qp.address());
    batch = Batch.of(qp, new WorkRequest.Write(memory.local(0, 64), memory.remote(64, 64)));
    caller = CpuLanes.caller();
    sender = DeferredSender.builder().capacity(2 * BURST).workAtOnce(2 * BURST).build();
    channel = sender.channel(1, Destination.of(qp));
    idle = HostStream.create("idle");
  }

  /** Frees everything. */
  @TearDown(Level.Trial)
  public void close() {
    sender.close();
    idle.close();
    caller.close();
    nic.close();
  }

  static long taken(long ticket) {
    if (ticket < 0) {
      throw new IllegalStateException(Status.describe(ticket));
    }
    return ticket;
  }

  /** Sends a burst whose stream is idle. */
  long burst() {
    long ticket = 0;
    for (int i = 0; i < BURST; i++) {
      ticket = taken(channel.send(batch, SendOrder.ORDERED, idle));
    }
    return ticket;
  }

  /** Waits until the NIC has done what was submitted. */
  void awaitNic() {
    while (qp.completed() < qp.counters().submitted()) {
      Thread.yield();
    }
  }
}
