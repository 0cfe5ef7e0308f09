// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.backend;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.Path;
import org.gpuverbs.PathDetails.Doorbell;
import org.gpuverbs.Placement;
import org.gpuverbs.PortOptions;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Ringer;
import org.gpuverbs.internal.cuda.CudaCopyEngine;
import org.gpuverbs.internal.discovery.RdmaPort;
import org.gpuverbs.internal.shim.DirectCalls;
import org.gpuverbs.internal.shim.VerbsCalls;
import org.gpuverbs.internal.softnic.CopyEngine;
import org.jspecify.annotations.Nullable;

/**
 * A verbs device: a native thread serves its queue pairs (path PROXY), or it is an mlx5 NIC that
 * reads them itself (path DIRECT).
 */
public final class VerbsDevice implements Device {
  private final String name;
  private final PortOptions options;
  private final long handle;
  private final VerbsCalls.Info info;
  private DirectCalls.@Nullable Info direct;

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

  /**
   * What it can do by path DIRECT.
   *
   * @throws RdmaException naming what is missing for it
   */
  public synchronized DirectCalls.Info direct() {
    if (direct == null) {
      direct = DirectCalls.available(handle);
    }
    return direct;
  }

  /** The best doorbell that {@link #direct} found. */
  public Doorbell bestDoorbell() {
    return DirectQueue.doorbell(direct().bestUar());
  }

  long handle() {
    return handle;
  }

  PortOptions options() {
    return options;
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
    return copies instanceof CudaCopyEngine engine
        ? new Registered(
            handle, VerbsCalls.registerGpu(handle, engine.gpu(), address, length, access))
        : region(address, length, access);
  }

  private Region region(long address, long length, int access) {
    VerbsCalls.Registered made = VerbsCalls.register(handle, address, length, access);
    return new Registered(handle, made);
  }

  @Override
  public Cq createCq(Path path, MemorySegment ring, int depth) {
    return path == Path.DIRECT
        ? DirectQueue.createCq(this, ring.address(), depth)
        : new ProxyQueue.Cq(VerbsCalls.cqCreate(ring.address(), depth));
  }

  @Override
  public void check(Path path, QueuePairOptions options) {
    if (path == Path.DIRECT) {
      DirectQueue.check(this, options);
    } else {
      requireThread(options);
    }
  }

  /** The software NIC and the proxy read rings by address, as the CPU, and are rung by a word. */
  static void requireThread(QueuePairOptions options) {
    if (options.placement() == Placement.GPU) {
      throw new RdmaException(
          "paths SOFT and PROXY can't serve a queue in GPU memory, which their threads can't read",
          0,
          0,
          0,
          "take Placement.HOST, which is pinned for the GPU's kernels; placement GPU is for path"
              + " DIRECT",
          null);
    }
    if (options.ringer() == Ringer.CPU_THREAD) {
      throw new IllegalArgumentException(
          "ringer CPU_THREAD is for path DIRECT: with the others a thread reads the rings anyway");
    }
  }

  @Override
  public Qp createQp(Queues queues) {
    return queues.path() == Path.DIRECT
        ? DirectQueue.create(this, queues)
        : ProxyQueue.create(this, queues);
  }

  @Override
  public QueuePairAddress address(Path path, int number, int packetSequence) {
    return new QueuePairAddress(
        path, guid(), number, packetSequence, info.lid(), mtu(), info.gidHigh(), info.gidLow());
  }

  /**
   * Values in network order would be other values than on all other paths; the kernel, too, calls
   * that no atomics (get_atomic_caps of linux drivers/infiniband/hw/mlx5/main.c).
   */
  @Override
  public boolean atomics(Path path) {
    return path == Path.DIRECT ? direct().atomics() == DirectCalls.Info.HOST_ORDER : info.atomics();
  }

  private int mtu() {
    return options.mtu() == 0 ? info.mtu() : options.mtu();
  }

  /** Bytes a packet that both ends take. */
  int mtuTo(QueuePairAddress peer) {
    if (peer.mtu() == 0 || (peer.lid() == 0 && peer.gidLow() == 0)) {
      throw new IllegalArgumentException(
          "the peer's address has no " + (peer.mtu() == 0 ? "MTU" : "LID and no GID"));
    }
    return Math.min(mtu(), peer.mtu());
  }

  @Override
  public void close() {
    VerbsCalls.close(handle);
  }

  /** Such as {@code mlx5_0}. */
  @Override
  public String toString() {
    return name;
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
}
