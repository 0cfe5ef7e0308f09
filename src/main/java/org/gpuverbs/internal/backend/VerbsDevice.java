// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.backend;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.Path;
import org.gpuverbs.PortOptions;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.discovery.RdmaPort;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.shim.VerbsCalls;
import org.gpuverbs.internal.softnic.CopyEngine;
import org.jspecify.annotations.Nullable;

/** A verbs device whose queue pairs a native thread serves: path PROXY. */
public final class VerbsDevice implements Device {
  private final String name;
  private final PortOptions options;
  private final long handle;
  private final VerbsCalls.Info info;

  private VerbsDevice(String name, PortOptions options, VerbsCalls.Opened opened) {
    this.name = name;
    this.options = options;
    this.handle = opened.handle();
    this.info = opened.info();
  }

  /**
   * Opens it on the port and GID of the options, or those of {@code port}.
   *
   * @throws RdmaException naming what is missing
   */
  public static VerbsDevice open(String name, PortOptions options, RdmaPort port) {
    int gid =
        options.gidIndex() >= 0
            ? options.gidIndex()
            : port.gid().map(each -> each.index()).orElse(-1);
    VerbsDevice device = new VerbsDevice(name, options, VerbsCalls.open(name, port.number(), gid));
    int most = device.info.mtu();
    if (options.mtu() > most) {
      device.close();
      throw new RdmaException(
          "an MTU of " + options.mtu() + " is asked for, the port of " + name + " has " + most,
          0,
          0,
          0,
          "ask for less, or raise the MTU of the port's interface (RoCE: "
              + RdmaPort.jumbo()
              + " or more)",
          null);
    }
    return device;
  }

  public VerbsCalls.Info info() {
    return info;
  }

  @Override
  public long guid() {
    return info.guid();
  }

  @Override
  public long maxMessageBytes() {
    return info.maxMessageBytes();
  }

  @Override
  public Region register(MemorySegment segment, int access) {
    return region(segment.address(), segment.byteSize(), access);
  }

  @Override
  public Region register(MemorySegment segment, CopyEngine copies, int access) {
    return region(segment.address(), segment.byteSize(), access);
  }

  @Override
  public Region register(long address, long length, CopyEngine copies, int access) {
    return region(address, length, access);
  }

  private Region region(long address, long length, int access) {
    VerbsCalls.Registered made = VerbsCalls.register(handle, address, length, access);
    return new Registered(handle, made);
  }

  @Override
  public Cq createCq(MemorySegment ring, int depth) {
    return new Producer(VerbsCalls.cqCreate(ring.address(), depth));
  }

  @Override
  public Qp createQp(
      SendQueue queue, int depth, int receiveDepth, @Nullable Cq send, @Nullable Cq receive) {
    VerbsCalls.Made made =
        VerbsCalls.qpCreate(
            handle,
            queue.qp(),
            send == null ? 0 : ((Producer) send).cq,
            receive == null ? 0 : ((Producer) receive).cq,
            options.pkeyIndex());
    return new Served(this, made.handle(), made.number());
  }

  @Override
  public QueuePairAddress address(int number, int packetSequence) {
    return new QueuePairAddress(
        Path.PROXY,
        guid(),
        number,
        packetSequence,
        info.lid(),
        mtu(),
        info.gidHigh(),
        info.gidLow());
  }

  private int mtu() {
    return options.mtu() == 0 ? info.mtu() : options.mtu();
  }

  @Override
  public void close() {
    VerbsCalls.close(handle);
  }

  private record Registered(long device, VerbsCalls.Registered made) implements Region {
    @Override
    public int lkey() {
      return made.lkey();
    }

    @Override
    public int rkey() {
      return made.rkey();
    }

    @Override
    public void close() {
      VerbsCalls.deregister(device, made.handle());
    }
  }

  private record Producer(long cq) implements Cq {
    @Override
    public void consumed(long consumerIndex) {
      VerbsCalls.cqConsumed(cq, consumerIndex);
    }

    @Override
    public void close() {
      VerbsCalls.cqDestroy(cq);
    }
  }

  private record Served(VerbsDevice device, long qp, int number) implements Qp {
    @Override
    public boolean failed() {
      return VerbsCalls.qpState(qp) == SendQueue.STATE_ERROR;
    }

    @Override
    public void connect(QueuePairAddress peer, int packetSequence) {
      if (peer.mtu() == 0 || (peer.lid() == 0 && peer.gidLow() == 0)) {
        throw new IllegalArgumentException(
            "the peer's address has no " + (peer.mtu() == 0 ? "MTU" : "LID and no GID"));
      }
      VerbsCalls.qpConnect(
          qp, peer, packetSequence, Math.min(device.mtu(), peer.mtu()), device.options);
    }

    @Override
    public void reset() {
      VerbsCalls.qpReset(qp);
    }

    @Override
    public void close() {
      VerbsCalls.qpDestroy(qp);
    }

    @Override
    public String toString() {
      return device.name + " queue pair " + number;
    }
  }
}
