// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.backend;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.NicState;
import org.gpuverbs.Path;
import org.gpuverbs.PathDetails;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.softnic.CopyEngine;
import org.gpuverbs.internal.softnic.SoftCq;
import org.gpuverbs.internal.softnic.SoftMr;
import org.gpuverbs.internal.softnic.SoftNic;
import org.gpuverbs.internal.softnic.SoftQp;
import org.gpuverbs.internal.softnic.SoftQpAttr;
import org.gpuverbs.internal.softnic.SoftRemote;
import org.gpuverbs.internal.softnic.SoftState;
import org.jspecify.annotations.Nullable;

/** The software NIC. */
public final class SoftDevice implements Device {
  /** Of ibv_access_flags: local and remote write, remote read, remote atomic. */
  private static final int PERMISSIONS = 0xf;

  private static final PathDetails DETAILS = ProxyQueue.thread(Path.SOFT);

  private final SoftNic nic;

  public SoftDevice(SoftNic nic) {
    this.nic = nic;
  }

  @Override
  public long guid() {
    return nic.guid();
  }

  @Override
  public long maxMessageBytes() {
    return nic.maxMessageBytes();
  }

  @Override
  public Region register(MemorySegment segment, int access) {
    return new Registered(nic.register(segment, access & PERMISSIONS));
  }

  @Override
  public Region register(MemorySegment segment, CopyEngine copies, int access) {
    return new Registered(nic.register(segment, copies, access & PERMISSIONS));
  }

  @Override
  public Region register(long address, long length, CopyEngine copies, int access) {
    return new Registered(nic.register(address, length, copies, access & PERMISSIONS));
  }

  @Override
  public Cq createCq(Path path, MemorySegment ring, int depth) {
    return new Producer(nic.createCq(ring, depth));
  }

  @Override
  public void check(Path path, QueuePairOptions options) {
    VerbsDevice.requireThread(options);
  }

  @Override
  public Qp createQp(Queues queues) {
    SendQueue queue = queues.queue();
    Cq send = queues.send();
    Cq receive = queues.receive();
    int receiveDepth = queues.options().receiveDepth();
    return new Served(
        nic.createQp(
            new SoftQpAttr(
                queue.ring(),
                queues.options().depth(),
                queue.doorbellRecord(),
                queue.doorbell(),
                send == null ? queue.collapsedCqe() : null,
                send == null ? null : ((Producer) send).cq,
                receive == null ? null : queue.receiveRing(receiveDepth),
                receiveDepth,
                receive == null ? null : ((Producer) receive).cq)));
  }

  @Override
  public QueuePairAddress address(Path path, int number, int packetSequence) {
    return new QueuePairAddress(Path.SOFT, guid(), number, packetSequence, 0, 0, 0, 0);
  }

  @Override
  public boolean atomics(Path path) {
    return true;
  }

  @Override
  public void close() {
    nic.close();
  }

  private record Registered(SoftMr mr) implements Region {
    @Override
    public int lkey() {
      return mr.lkey();
    }

    @Override
    public int rkey() {
      return mr.rkey();
    }

    @Override
    public void close() {
      mr.close();
    }
  }

  private record Producer(SoftCq cq) implements Cq {
    @Override
    public void consumed(long consumerIndex) {
      cq.consumed(consumerIndex);
    }

    @Override
    public void close() {}
  }

  private record Served(SoftQp qp) implements Qp {
    @Override
    public int number() {
      return qp.number();
    }

    @Override
    public PathDetails details() {
      return DETAILS;
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
    public boolean failed() {
      return qp.state() == SoftState.ERROR;
    }

    @Override
    public void connect(QueuePairAddress peer, int packetSequence) {
      qp.connect(new SoftRemote(peer.guid(), peer.number(), peer.packetSequence(), packetSequence));
    }

    @Override
    public void reset() {
      qp.reset();
    }

    @Override
    public void close(boolean inUse) {
      qp.close();
    }
  }
}
