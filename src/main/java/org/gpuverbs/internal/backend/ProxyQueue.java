// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.backend;

import org.gpuverbs.NicState;
import org.gpuverbs.Path;
import org.gpuverbs.PathDetails;
import org.gpuverbs.PathDetails.Doorbell;
import org.gpuverbs.PathDetails.QueueMemory;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.Ringer;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.shim.VerbsCalls;
import org.jspecify.annotations.Nullable;

/** A queue pair that a native thread serves: path PROXY. */
record ProxyQueue(VerbsDevice device, long qp, int number) implements Device.Qp {
  private static final PathDetails DETAILS = thread(Path.PROXY);

  /** The producer of a full CQ. */
  record Cq(long cq) implements Device.Cq {
    @Override
    public void consumed(long consumerIndex) {
      VerbsCalls.cqConsumed(cq, consumerIndex);
    }

    @Override
    public void close() {
      VerbsCalls.cqDestroy(cq);
    }
  }

  static ProxyQueue create(VerbsDevice device, Device.Queues queues) {
    VerbsCalls.Made made =
        VerbsCalls.qpCreate(
            device.handle(),
            queues.queue().qp(),
            queues.send() instanceof Cq send ? send.cq : 0,
            queues.receive() instanceof Cq receive ? receive.cq : 0,
            device.options().pkeyIndex());
    return new ProxyQueue(device, made.handle(), made.number());
  }

  /** Of paths whose thread reads host memory. */
  static PathDetails thread(Path path) {
    return new PathDetails(path, Doorbell.WORD, Ringer.SUBMITTER, QueueMemory.HOST, "");
  }

  @Override
  public PathDetails details() {
    return DETAILS;
  }

  @Override
  public boolean failed() {
    return VerbsCalls.qpState(qp) == SendQueue.STATE_ERROR;
  }

  @Override
  public String event() {
    return "";
  }

  @Override
  public @Nullable NicState query() {
    return null;
  }

  @Override
  public void connect(QueuePairAddress peer, int packetSequence) {
    VerbsCalls.qpConnect(qp, peer, packetSequence, device.mtuTo(peer), device.options());
  }

  @Override
  public void reset() {
    VerbsCalls.qpReset(qp);
  }

  @Override
  public void close(boolean inUse) {
    VerbsCalls.qpDestroy(qp);
  }
}
