// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.shim;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.gpuverbs.PortOptions;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.internal.ffi.Native;
import org.gpuverbs.internal.ffi.gv_proxy_remote;
import org.gpuverbs.internal.ffi.gv_verbs_info;
import org.gpuverbs.internal.ffi.gv_verbs_region;

/**
 * The functions of native/include/gpuverbs.h for verbs devices. Call only after {@link
 * NativeLibrary#load} gave null.
 */
public final class VerbsCalls {
  /** On the completion queue's poll path: allocates nothing. */
  private static final MethodHandle CONSUMED =
      Linker.nativeLinker()
          .downcallHandle(
              Native.gv_proxy_cq_consumed$address(),
              FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG),
              Linker.Option.critical(false));

  private VerbsCalls() {}

  /** gv_verbs_info. */
  public record Info(
      long guid,
      long gidHigh,
      long gidLow,
      long maxMessageBytes,
      boolean active,
      int lid,
      int mtu,
      boolean atomics,
      int maxWorkRequests,
      int maxSegments) {}

  /** A gv_verbs. */
  public record Opened(long handle, Info info) {}

  /** A gv_verbs_region. */
  public record Registered(long handle, int lkey, int rkey) {}

  /** A gv_proxy. */
  public record Made(long handle, int number) {}

  /**
   * Opens a device.
   *
   * @param gid index, or -1 without one
   */
  public static Opened open(String name, int port, int gid) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      MemorySegment info = gv_verbs_info.allocate(arena);
      NativeError error = new NativeError(arena);
      error.require(
          name + " can't be opened",
          Native.gv_verbs_open(arena.allocateFrom(name), port, gid, out, info, error.segment()));
      return new Opened(
          out.get(JAVA_LONG, 0),
          new Info(
              gv_verbs_info.guid(info),
              gv_verbs_info.gid_high(info),
              gv_verbs_info.gid_low(info),
              Integer.toUnsignedLong((int) gv_verbs_info.max_message_bytes(info)),
              gv_verbs_info.port_active(info) != 0,
              gv_verbs_info.lid(info),
              gv_verbs_info.mtu(info),
              gv_verbs_info.atomics(info) != 0,
              gv_verbs_info.max_work_requests(info),
              gv_verbs_info.max_segments(info)));
    }
  }

  /** Closes a device that nothing uses. */
  public static void close(long device) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.letGo("the device", Native.gv_verbs_close(pointer(device), error.segment()));
    }
  }

  /** Registers memory; {@code access} as ibv_access_flags. */
  public static Registered register(long device, long address, long length, int access) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = gv_verbs_region.allocate(arena);
      NativeError error = new NativeError(arena);
      error.require(
          "memory can't be registered",
          Native.gv_verbs_register(pointer(device), address, length, access, out, error.segment()));
      return new Registered(
          gv_verbs_region.handle(out), gv_verbs_region.lkey(out), gv_verbs_region.rkey(out));
    }
  }

  /** As register, for memory of a gv_gpu. */
  public static Registered registerGpu(
      long device, long gpu, long address, long length, int access) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = gv_verbs_region.allocate(arena);
      NativeError error = new NativeError(arena);
      error.require(
          "memory of a GPU can't be registered",
          Native.gv_verbs_register_gpu(
              pointer(device), pointer(gpu), address, length, access, out, error.segment()));
      return new Registered(
          gv_verbs_region.handle(out), gv_verbs_region.lkey(out), gv_verbs_region.rkey(out));
    }
  }

  /** Invalidates a registration. */
  public static void deregister(long device, long region) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.letGo("a region", Native.gv_verbs_deregister(pointer(device), region, error.segment()));
    }
  }

  /** The gv_proxy_cq of a ring. */
  public static long cqCreate(long ring, int depth) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      NativeError error = new NativeError(arena);
      error.require(
          "a completion queue can't be created",
          Native.gv_proxy_cq_create(ring, depth, out, error.segment()));
      return out.get(JAVA_LONG, 0);
    }
  }

  /** How many CQEs have been taken. */
  public static void cqConsumed(long cq, long consumed) {
    try {
      CONSUMED.invokeExact(cq, consumed);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new AssertionError("a downcall threw", t);
    }
  }

  /** Frees a gv_proxy_cq. */
  public static void cqDestroy(long cq) {
    Native.gv_proxy_cq_destroy(pointer(cq));
  }

  /** Makes a queue pair that serves a gv_qp; a CQ of 0 is none. */
  public static Made qpCreate(long device, long queue, long send, long receive, int pkeyIndex) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      MemorySegment number = arena.allocate(JAVA_INT);
      NativeError error = new NativeError(arena);
      error.require(
          "a queue pair can't be created",
          Native.gv_proxy_create(
              pointer(device),
              pointer(queue),
              pointer(send),
              pointer(receive),
              pkeyIndex,
              out,
              number,
              error.segment()));
      return new Made(out.get(JAVA_LONG, 0), number.get(JAVA_INT, 0));
    }
  }

  /** Connects a queue pair. */
  public static void qpConnect(
      long qp, QueuePairAddress peer, int packetSequence, int mtu, PortOptions options) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment remote = remote(arena, peer, packetSequence, mtu, options);
      NativeError error = new NativeError(arena);
      error.require(
          "queue pair " + peer.number() + " of the peer can't be connected to",
          Native.gv_proxy_connect(pointer(qp), remote, error.segment()));
    }
  }

  /** The gv_proxy_remote of a peer. */
  static MemorySegment remote(
      Arena arena, QueuePairAddress peer, int packetSequence, int mtu, PortOptions options) {
    MemorySegment remote = gv_proxy_remote.allocate(arena);
    gv_proxy_remote.gid_high(remote, peer.gidHigh());
    gv_proxy_remote.gid_low(remote, peer.gidLow());
    gv_proxy_remote.number(remote, peer.number());
    gv_proxy_remote.packet_sequence(remote, peer.packetSequence());
    gv_proxy_remote.local_packet_sequence(remote, packetSequence);
    gv_proxy_remote.lid(remote, peer.lid());
    gv_proxy_remote.mtu(remote, mtu);
    gv_proxy_remote.service_level(remote, options.serviceLevel());
    gv_proxy_remote.traffic_class(remote, options.trafficClass());
    gv_proxy_remote.timeout(remote, options.timeout());
    gv_proxy_remote.retries(remote, options.retries());
    gv_proxy_remote.rnr_retries(remote, options.rnrRetries());
    gv_proxy_remote.rnr_timer(remote, options.rnrTimer());
    return remote;
  }

  /** To RESET. */
  public static void qpReset(long qp) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.require(
          "the queue pair can't be reset", Native.gv_proxy_reset(pointer(qp), error.segment()));
    }
  }

  /** GV_STATE_*. */
  public static int qpState(long qp) {
    return Native.gv_proxy_state(pointer(qp));
  }

  /** Destroys a queue pair. */
  public static void qpDestroy(long qp) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.letGo("a queue pair", Native.gv_proxy_destroy(pointer(qp), error.segment()));
    }
  }

  private static MemorySegment pointer(long address) {
    return MemorySegment.ofAddress(address);
  }
}
