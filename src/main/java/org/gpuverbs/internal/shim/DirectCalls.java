// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.shim;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.gpuverbs.PortOptions;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.internal.ffi.Native;
import org.gpuverbs.internal.ffi.gv_direct_attr;
import org.gpuverbs.internal.ffi.gv_direct_info;
import org.gpuverbs.internal.ffi.gv_direct_report;
import org.gpuverbs.internal.ffi.gv_direct_status;

/**
 * The functions of native/include/gpuverbs.h for path DIRECT. Call only after {@link
 * NativeLibrary#load} gave null.
 */
public final class DirectCalls {
  /** On the completion queue's poll path: allocates nothing. */
  private static final MethodHandle CONSUMED =
      Linker.nativeLinker()
          .downcallHandle(
              Native.gv_direct_cq_consumed$address(),
              FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG),
              Linker.Option.critical(false));

  private DirectCalls() {}

  /** gv_direct_info. */
  public record Info(
      int maxDepth, int maxInlineBytes, int maxCqes, int atomics, int bestUar, boolean dmaBuf) {
    /** Of {@link #atomics}: the 8 bytes in the host's order, as in all other paths. */
    public static final int HOST_ORDER = 1;

    /** Of {@link #atomics}. */
    public static final int NETWORK_ORDER = 2;
  }

  /** A gv_direct with its gv_direct_report; the codes are GV_UAR_*, GV_RINGER_* and GV_UMEM_*. */
  public record Made(long handle, int number, int uar, int ringer, int umem, String why) {}

  /** gv_direct_status. */
  public record State(int nicState, int sendIndex, int receiveIndex, int remote, int event) {}

  /**
   * What the device can do.
   *
   * @throws org.gpuverbs.RdmaException naming what is missing for path DIRECT
   */
  public static Info available(long device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = gv_direct_info.allocate(arena);
      NativeError error = new NativeError(arena);
      error.require(
          "path DIRECT is not available",
          Native.gv_direct_available(pointer(device), info, error.segment()));
      return new Info(
          gv_direct_info.max_depth(info),
          gv_direct_info.max_inline_bytes(info),
          gv_direct_info.max_cqes(info),
          gv_direct_info.atomics(info),
          gv_direct_info.best_uar(info),
          gv_direct_info.dmabuf(info) != 0);
    }
  }

  /** The gv_direct_cq of a ring. */
  public static long cqCreate(long device, long ring, int depth) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      NativeError error = new NativeError(arena);
      error.require(
          "a completion queue can't be created",
          Native.gv_direct_cq_create(pointer(device), ring, depth, out, error.segment()));
      return out.get(JAVA_LONG, 0);
    }
  }

  /** How many CQEs have been taken. */
  public static void cqConsumed(long cq, long consumed) {
    try {
      CONSUMED.invokeExact(cq, consumed);
    } catch (Throwable t) {
      throw Calls.unexpected(t);
    }
  }

  /** Destroys a CQ that no queue pair uses. */
  public static void cqDestroy(long cq) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.letGo("a completion queue", Native.gv_direct_cq_destroy(pointer(cq), error.segment()));
    }
  }

  /**
   * Makes a queue pair on a gv_qp; a CQ of 0 is none.
   *
   * @param ringer GV_RINGER_*
   * @param atomics whether the peer may do atomics
   */
  public static Made create(
      long device,
      long queue,
      long send,
      long receive,
      int pkeyIndex,
      int ringer,
      boolean atomics) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = gv_direct_attr.allocate(arena);
      gv_direct_attr.pkey_index(attr, pkeyIndex);
      gv_direct_attr.ringer(attr, ringer);
      gv_direct_attr.atomics(attr, atomics ? 1 : 0);
      MemorySegment out = arena.allocate(ADDRESS);
      MemorySegment report = gv_direct_report.allocate(arena);
      NativeError error = new NativeError(arena);
      error.require(
          "a queue pair of path DIRECT can't be created",
          Native.gv_direct_create(
              pointer(device),
              pointer(queue),
              pointer(send),
              pointer(receive),
              attr,
              out,
              report,
              error.segment()));
      return new Made(
          out.get(JAVA_LONG, 0),
          gv_direct_report.number(report),
          gv_direct_report.uar(report),
          gv_direct_report.ringer(report),
          gv_direct_report.umem(report),
          gv_direct_report.why(report).getString(0));
    }
  }

  /** Connects a queue pair. */
  public static void connect(
      long qp, QueuePairAddress peer, int packetSequence, int mtu, PortOptions options) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment remote = VerbsCalls.remote(arena, peer, packetSequence, mtu, options);
      NativeError error = new NativeError(arena);
      error.require(
          "queue pair " + peer.number() + " of the peer can't be connected to",
          Native.gv_direct_connect(pointer(qp), remote, error.segment()));
    }
  }

  /** To RESET. */
  public static void reset(long qp) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.require(
          "the queue pair can't be reset", Native.gv_direct_reset(pointer(qp), error.segment()));
    }
  }

  /** GV_STATE_*, without asking the NIC. */
  public static int state(long qp) {
    return Native.gv_direct_state(pointer(qp));
  }

  /** Asks the NIC. */
  public static State query(long qp) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = gv_direct_status.allocate(arena);
      NativeError error = new NativeError(arena);
      error.require(
          "the NIC can't be asked for the queue pair's state",
          Native.gv_direct_query(pointer(qp), out, error.segment()));
      return new State(
          gv_direct_status.nic_state(out),
          gv_direct_status.send_pi(out),
          gv_direct_status.receive_pi(out),
          gv_direct_status.remote(out),
          gv_direct_status.event(out));
    }
  }

  /** Destroys a queue pair; the doorbell stays mapped if kernels may still ring. */
  public static void destroy(long qp, boolean inUse) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.letGo(
          "a queue pair", Native.gv_direct_destroy(pointer(qp), inUse ? 1 : 0, error.segment()));
    }
  }

  private static MemorySegment pointer(long address) {
    return MemorySegment.ofAddress(address);
  }
}
