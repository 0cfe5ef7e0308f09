// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.DeferredChannel;
import org.gpuverbs.DeferredSender;
import org.gpuverbs.Destination;
import org.gpuverbs.HostStream;
import org.gpuverbs.SendOrder;
import org.gpuverbs.Status;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A queue whose NIC is never late, with room for a burst, and a sender for it. */
@State(Scope.Thread)
public abstract class DeferredRig {
  static final int BURST = QuietQueue.DEPTH / 2;

  QuietQueue queue;
  CpuLanes caller;
  Batch batch;
  DeferredSender sender;
  DeferredChannel channel;
  HostStream idle;

  /** Makes all of it. */
  @Setup(Level.Trial)
  public void open() {
    queue = new QuietQueue(Policies.of("TURN", "SYSTEM", 1));
    batch = queue.batch(1);
    caller = CpuLanes.caller();
    sender =
        DeferredSender.builder()
            .capacity(2 * BURST)
            .workAtOnce(2 * BURST)
            .executor(Runnable::run)
            .build();
    channel = sender.channel(1, Destination.of(queue.queuePair()));
    idle = HostStream.create("idle");
  }

  /** Frees everything. */
  @TearDown(Level.Trial)
  public void close() {
    sender.close();
    idle.close();
    caller.close();
    queue.close();
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
}
