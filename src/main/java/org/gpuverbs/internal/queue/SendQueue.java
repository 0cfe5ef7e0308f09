// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.gpuverbs.internal.ffi.Native;
import org.gpuverbs.internal.ffi.gv_qp_attr;
import org.gpuverbs.internal.shim.Calls;
import org.gpuverbs.internal.shim.CudaCalls;
import org.gpuverbs.internal.shim.Memory;

/**
 * A queue pair's native memory: gv_qp and its gv_sq. The owner keeps it alive by a {@link UseGate};
 * nothing here checks. Any thread, except that {@link #complete} has one caller at a time.
 */
public final class SendQueue {
  /** GV_STATE_* of native/include/gpuverbs/queue.h. */
  public static final int STATE_RESET = 0;

  /** See {@link #STATE_RESET}. */
  public static final int STATE_READY = 1;

  /** See {@link #STATE_RESET}. */
  public static final int STATE_ERROR = 2;

  /** See {@link #STATE_RESET}. */
  public static final int STATE_CLOSED = 3;

  private static final VarHandle LONG = JAVA_LONG.varHandle();
  private static final VarHandle INT = JAVA_INT.varHandle();

  private static final long LATCH_WRITTEN = 2;

  private final long qp;
  private final MemorySegment fields;
  private final MemorySegment sq;
  private final int depth;

  /** A GPU's queue: the handle in GPU memory; 0 else. */
  private final long deviceAddress;

  /** What submitters count: gv_sq itself, or a copy of the one in GPU memory. */
  private final MemorySegment counters;

  private SendQueue(long qp, int depth) {
    this.qp = qp;
    this.depth = depth;
    this.fields = Memory.at(qp, Layouts.QP_BYTES);
    this.sq = Memory.at(fields.get(JAVA_LONG, Layouts.QP_SQ), Layouts.SQ_BYTES);
    this.deviceAddress = fields.get(JAVA_LONG, Layouts.QP_DEVICE_SQ);
    this.counters = deviceAddress == 0 ? sq : Arena.ofAuto().allocate(Layouts.SQ_BYTES, 128);
  }

  /**
   * Allocates and initialises a queue.
   *
   * @throws IllegalArgumentException naming the attribute that is wrong
   */
  public static SendQueue create(
      long gpu,
      boolean inGpuMemory,
      int depth,
      int receiveDepth,
      int handOver,
      int fenceMode,
      int doorbellEvery,
      int signalEvery,
      int maxGroupWqebbs,
      boolean collapsed,
      long submitTimeoutNanos) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = gv_qp_attr.allocate(arena);
      gv_qp_attr.depth(attr, depth);
      gv_qp_attr.receive_depth(attr, receiveDepth);
      gv_qp_attr.handover(attr, handOver);
      gv_qp_attr.fence_mode(attr, fenceMode);
      gv_qp_attr.doorbell_every(attr, doorbellEvery);
      gv_qp_attr.signal_every(attr, signalEvery);
      gv_qp_attr.max_group_wqebbs(attr, maxGroupWqebbs);
      gv_qp_attr.collapsed(attr, collapsed ? 1 : 0);
      gv_qp_attr.submit_timeout_ns(attr, submitTimeoutNanos);
      return new SendQueue(
          gpu == 0
              ? Calls.qpCreate(attr)
              : CudaCalls.qpCreate(
                  gpu, attr, inGpuMemory ? Native.GV_PLACEMENT_GPU() : Native.GV_PLACEMENT_HOST()),
          depth);
    }
  }

  /** gv_qp's address. */
  public long qp() {
    return qp;
  }

  /** gv_sq's address: what submitters hold. */
  public long address() {
    return sq.address();
  }

  /** The send ring. */
  public MemorySegment ring() {
    return at(Layouts.QP_RING, (long) depth * Layouts.WQEBB);
  }

  /** The doorbell record. */
  public MemorySegment doorbellRecord() {
    return at(Layouts.QP_DBR, 8);
  }

  /** The doorbell register. */
  public MemorySegment doorbell() {
    return at(Layouts.QP_DOORBELL, 8);
  }

  /** The collapsed CQE. */
  public MemorySegment collapsedCqe() {
    return at(Layouts.QP_CQE, Layouts.CQE_BYTES);
  }

  /** The receive ring. */
  public MemorySegment receiveRing(int receiveDepth) {
    return at(Layouts.QP_RECEIVE_RING, (long) receiveDepth * Layouts.RQ_STRIDE);
  }

  private MemorySegment at(long pointer, long bytes) {
    return Memory.at(fields.get(JAVA_LONG, pointer), bytes);
  }

  /** The handle that kernels take, in GPU memory; 0 for a queue of the CPU. */
  public long deviceAddress() {
    return deviceAddress;
  }

  /**
   * Brings the host's view of a GPU's queue up to what its submitters know, counters and how far
   * the NIC has come; and, of a queue in GPU memory, to what the NIC has written.
   */
  public synchronized void readDevice() {
    CudaCalls.qpRead(qp, counters);
    long seen = counters.get(JAVA_LONG, Layouts.SQ_COMPLETED);
    long now = completed();
    while (seen > now && !LONG.compareAndSet(sq, Layouts.SQ_COMPLETED, now, seen)) {
      now = completed();
    }
  }

  /** GV_STATE_*. */
  public int state() {
    return (int) INT.getAcquire(sq, Layouts.SQ_STATE);
  }

  /** Slots finished, as last seen by a poller. */
  public long completed() {
    return (long) LONG.getAcquire(sq, Layouts.SQ_COMPLETED);
  }

  /** One of the 64-bit counters. */
  public long counter(long offset) {
    return (long) LONG.getOpaque(counters, offset);
  }

  /** The first error's syndrome; 0 none. */
  public int errorSyndrome() {
    return (long) LONG.getAcquire(sq, Layouts.SQ_ERROR_LATCH) == LATCH_WRITTEN
        ? sq.get(JAVA_INT, Layouts.SQ_ERROR_SYNDROME)
        : 0;
  }

  /** The first error's WQE index; -1 none. */
  public long errorIndex() {
    return (long) LONG.getAcquire(sq, Layouts.SQ_ERROR_LATCH) == LATCH_WRITTEN
        ? sq.get(JAVA_LONG, Layouts.SQ_ERROR_INDEX)
        : -1;
  }

  /** GV_OK, a sentinel or a syndrome. */
  public long poll(long ticket) {
    return Calls.poll(sq.address(), ticket);
  }

  /** Full mode: takes one send CQE into account; returns the WQE's 64-bit index. */
  public long complete(int wqeCounter, int syndrome) {
    return Calls.complete(sq.address(), wqeCounter, syndrome);
  }

  /** State READY. */
  public void ready(int number) {
    Calls.qpReady(qp, number);
  }

  /** State RESET, everything cleared. */
  public void reset() {
    Calls.qpReset(qp);
  }

  /** Ends every wait on the queue with that state. */
  public void mark(int state) {
    Calls.qpMark(qp, state);
  }

  /** Frees the memory. */
  public void destroy() {
    Calls.qpDestroy(qp);
  }
}
