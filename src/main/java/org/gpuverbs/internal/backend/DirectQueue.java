// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.backend;

import org.gpuverbs.NicState;
import org.gpuverbs.Path;
import org.gpuverbs.PathDetails;
import org.gpuverbs.PathDetails.Doorbell;
import org.gpuverbs.PathDetails.QueueMemory;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.Ringer;
import org.gpuverbs.internal.ffi.Native;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.shim.DirectCalls;

/** A queue pair whose rings an mlx5 NIC reads itself: path DIRECT. */
record DirectQueue(VerbsDevice device, long qp, int number, PathDetails details)
    implements Device.Qp {

  /** A CQ that the NIC writes to. */
  record Cq(long cq) implements Device.Cq {
    @Override
    public void consumed(long consumerIndex) {
      DirectCalls.cqConsumed(cq, consumerIndex);
    }

    @Override
    public void close() {
      DirectCalls.cqDestroy(cq);
    }
  }

  static Cq createCq(VerbsDevice device, long ring, int depth) {
    int most = device.direct().maxCqes();
    if (depth > most) {
      throw new IllegalArgumentException(
          "%s completes to at most %d CQEs a queue: depth %d is too much"
              .formatted(device, most, depth));
    }
    return new Cq(DirectCalls.cqCreate(device.handle(), ring, depth));
  }

  static void check(VerbsDevice device, QueuePairOptions options) {
    DirectCalls.Info info = device.direct();
    atMost(device, "depth", options.depth(), info.maxDepth());
    atMost(device, "receiveDepth", options.receiveDepth(), info.maxDepth());
    atMost(device, "maxInline", options.maxInline(), info.maxInlineBytes());
  }

  private static void atMost(VerbsDevice device, String option, int value, int most) {
    if (value > most) {
      throw new IllegalArgumentException(
          "%s %d: %s takes at most %d".formatted(option, value, device, most));
    }
  }

  static DirectQueue create(VerbsDevice device, Device.Queues queues) {
    DirectCalls.Made made =
        DirectCalls.create(
            device.handle(),
            queues.queue().qp(),
            queues.send() instanceof Cq send ? send.cq : 0,
            queues.receive() instanceof Cq receive ? receive.cq : 0,
            device.options().pkeyIndex(),
            queues.options().ringer() == Ringer.CPU_THREAD
                ? Native.GV_RINGER_CPU()
                : Native.GV_RINGER_SUBMITTER(),
            device.atomics(Path.DIRECT));
    return new DirectQueue(device, made.handle(), made.number(), details(made));
  }

  private static PathDetails details(DirectCalls.Made made) {
    return new PathDetails(
        Path.DIRECT,
        doorbell(made.uar()),
        made.ringer() == Native.GV_RINGER_CPU() ? Ringer.CPU_THREAD : Ringer.SUBMITTER,
        made.umem() == Native.GV_UMEM_HOST()
            ? QueueMemory.HOST
            : made.umem() == Native.GV_UMEM_DMABUF()
                ? QueueMemory.DMA_BUF
                : QueueMemory.PEER_MEMORY,
        made.why());
  }

  /** Of a GV_UAR_*. */
  static Doorbell doorbell(int uar) {
    return uar == Native.GV_UAR_DEDICATED()
        ? Doorbell.DEDICATED
        : uar == Native.GV_UAR_NON_CACHED() ? Doorbell.NON_CACHED : Doorbell.BLUEFLAME;
  }

  @Override
  public boolean failed() {
    return DirectCalls.state(qp) == SendQueue.STATE_ERROR;
  }

  @Override
  public String event() {
    return AsyncEvent.describe(DirectCalls.query(qp).event());
  }

  @Override
  public NicState query() {
    DirectCalls.State state = DirectCalls.query(qp);
    return new NicState(
        AsyncEvent.state(state.nicState()),
        state.sendIndex(),
        state.receiveIndex(),
        state.remote(),
        AsyncEvent.describe(state.event()));
  }

  @Override
  public void connect(QueuePairAddress peer, int packetSequence) {
    DirectCalls.connect(qp, peer, packetSequence, device.mtuTo(peer), device.options());
  }

  @Override
  public void reset() {
    DirectCalls.reset(qp);
  }

  @Override
  public void close(boolean inUse) {
    DirectCalls.destroy(qp, inUse);
  }
}
