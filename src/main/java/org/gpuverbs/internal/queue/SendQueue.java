// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.gpuverbs.internal.shim.Memory;
import org.gpuverbs.internal.shim.Native;

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

  private SendQueue(long qp, int depth) {
    this.qp = qp;
    this.depth = depth;
    this.fields = Memory.at(qp, Layouts.QP_BYTES);
    this.sq = Memory.at(fields.get(JAVA_LONG, Layouts.QP_SQ), Layouts.SQ_BYTES);
  }

  /**
   * Allocates and initialises a queue.
   *
   * @throws IllegalArgumentException naming the attribute that is wrong
   */
  public static SendQueue create(
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
      MemorySegment attr = arena.allocate(Layouts.QP_ATTR_BYTES, 8);
      int[] words = {
        depth,
        receiveDepth,
        handOver,
        fenceMode,
        doorbellEvery,
        signalEvery,
        maxGroupWqebbs,
        collapsed ? 1 : 0
      };
      MemorySegment.copy(words, 0, attr, JAVA_INT, 0, words.length);
      attr.set(JAVA_LONG, Layouts.QP_ATTR_SUBMIT_TIMEOUT, submitTimeoutNanos);
      return new SendQueue(Native.qpCreate(attr), depth);
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
    return (long) LONG.getOpaque(sq, offset);
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
    return Native.poll(sq.address(), ticket);
  }

  /** Full mode: takes one send CQE into account; returns the WQE's 64-bit index. */
  public long complete(int wqeCounter, int syndrome) {
    return Native.complete(sq.address(), wqeCounter, syndrome);
  }

  /** State READY. */
  public void ready(int number) {
    Native.qpReady(qp, number);
  }

  /** State RESET, everything cleared. */
  public void reset() {
    Native.qpReset(qp);
  }

  /** Ends every wait on the queue with that state. */
  public void mark(int state) {
    Native.qpMark(qp, state);
  }

  /** Frees the memory. */
  public void destroy() {
    Native.qpDestroy(qp);
  }
}
