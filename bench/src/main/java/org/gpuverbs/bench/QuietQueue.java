// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Collections;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.Initiator;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.Status;
import org.gpuverbs.SubmitPolicy;
import org.gpuverbs.WorkRequest;
import org.gpuverbs.internal.ffi.Native;
import org.gpuverbs.internal.ffi.gv_request;
import org.gpuverbs.internal.ffi.gv_segment;
import org.gpuverbs.internal.ffi.gv_sq;

/**
 * A connected queue pair whose doorbells reach no NIC, so that what is measured is the submit path
 * alone. The submitting thread plays a NIC that is never late: {@link #finish} makes everything
 * published complete. One thread.
 */
final class QuietQueue implements AutoCloseable {
  static final int DEPTH = 1024;
  static final int MESSAGE = 64;

  private static final VarHandle LONG = JAVA_LONG.varHandle();
  private static final long READY = gv_sq.ready_head$offset();
  private static final long COMPLETED = gv_sq.completed$offset();
  private static final long RESERVED = gv_sq.resv_head$offset();

  private final Arena arena = Arena.ofShared();
  private final Nic nic;
  private final QueuePair queuePair;
  private final MemoryRegion local;
  private final MemoryRegion remote;
  private final MemorySegment sq;

  QuietQueue(SubmitPolicy policy) {
    Quiet.logs();
    nic = Nic.open();
    QueuePairOptions options = QueuePairOptions.builder().policy(policy).depth(DEPTH).build();
    queuePair = nic.queuePair(options);
    QueuePair peer = nic.queuePair(options);
    queuePair.connect(peer.address());
    peer.connect(queuePair.address());
    local = nic.allocate(4096);
    remote = nic.allocate(4096, Access.REMOTE_WRITE);
    sq = MemorySegment.ofAddress(queuePair.deviceHandle()).reinterpret(gv_sq.sizeof());
    // Doorbell and doorbell record as far apart as they are in a queue pair's memory.
    MemorySegment words = arena.allocate(256, 128);
    sq.set(JAVA_LONG, gv_sq.dbr$offset(), words.address());
    sq.set(JAVA_LONG, gv_sq.doorbell$offset(), words.address() + 128);
  }

  QueuePair queuePair() {
    return queuePair;
  }

  /** gv_sq's address. */
  long address() {
    return sq.address();
  }

  /** All that is published is complete. */
  void finish() {
    LONG.setOpaque(sq, COMPLETED, (long) LONG.getAcquire(sq, READY));
  }

  /** A batch of RDMA WRITEs, the last one signalled. */
  Batch batch(int size) {
    return Batch.of(
        queuePair,
        Batch.Signal.LAST,
        Collections.nCopies(
            size, new WorkRequest.Write(local.local(0, MESSAGE), remote.remote(0, MESSAGE))));
  }

  /** The same batch as an array of gv_request, for callers that do without the library's Java. */
  MemorySegment requests(int size) {
    MemorySegment all = gv_request.allocateArray(size, arena);
    for (int i = 0; i < size; i++) {
      MemorySegment request = gv_request.asSlice(all, i);
      request.set(JAVA_BYTE, gv_request.op$offset(), (byte) Native.GV_OP_WRITE());
      request.set(
          JAVA_BYTE,
          gv_request.flags$offset(),
          (byte) (i == size - 1 ? Native.GV_FLAG_SIGNALED() : 0));
      request.set(JAVA_BYTE, gv_request.segments$offset(), (byte) 1);
      request.set(JAVA_BYTE, gv_request.wqebbs$offset(), (byte) 1);
      request.set(JAVA_LONG, gv_request.remote_address$offset(), remote.address());
      request.set(JAVA_INT, gv_request.rkey$offset(), remote.remote().rkey());
      long segment = gv_request.segment$offset();
      request.set(JAVA_LONG, segment + gv_segment.address$offset(), local.address());
      request.set(JAVA_INT, segment + gv_segment.length$offset(), MESSAGE);
      request.set(JAVA_INT, segment + gv_segment.lkey$offset(), local.lkey());
    }
    return all;
  }

  /**
   * Submits as soon as there is room.
   *
   * @return the ticket
   */
  long submit(Initiator initiator, Batch batch) {
    while (true) {
      finish();
      long ticket = initiator.submit(batch);
      if (ticket >= 0) {
        return ticket;
      }
      if (ticket != Status.FULL && ticket != Status.BUSY) {
        throw new IllegalStateException(Status.describe(ticket));
      }
      Thread.yield();
    }
  }

  /** Waits until all that was handed out is published, then checks that nothing was lost. */
  void settle() {
    long deadline = System.nanoTime() + 10_000_000_000L;
    while ((long) LONG.getAcquire(sq, READY) != (long) LONG.getAcquire(sq, RESERVED)) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(
            "published "
                + LONG.getAcquire(sq, READY)
                + " of "
                + LONG.getAcquire(sq, RESERVED)
                + " basic blocks");
      }
      Thread.yield();
    }
    finish();
  }

  @Override
  public void close() {
    nic.close();
    arena.close();
  }
}
