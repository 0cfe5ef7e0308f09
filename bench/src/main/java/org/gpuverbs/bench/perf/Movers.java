// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.gpuverbs.Batch;
import org.gpuverbs.Initiator;
import org.gpuverbs.LocalMemory;
import org.gpuverbs.QueuePair;
import org.gpuverbs.Status;

/** How a single message is moved and waited for, by test. */
final class Movers {
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

  private Movers() {}

  static long submit(Initiator initiator, Batch batch) {
    Idle idle = new Idle(Load.PATIENCE_NANOS);
    while (true) {
      long ticket = initiator.submit(batch);
      if (ticket >= 0) {
        return ticket;
      }
      if ((ticket != Status.FULL && ticket != Status.BUSY) || !idle.again()) {
        throw BandwidthLoad.failed(batch.queuePair(), ticket);
      }
    }
  }

  /** READ and atomics: until the completion. */
  record Completions(Side side, Initiator initiator, Batch batch) implements LatencyLoad.Mover {
    @Override
    public void roundTrip(long number) {
      long ticket = submit(initiator, batch);
      QueuePair qp = batch.queuePair();
      Idle idle = new Idle(Load.PATIENCE_NANOS);
      long status = qp.poll(ticket);
      while (status == Status.PENDING) {
        if (!idle.again()) {
          throw BandwidthLoad.failed(qp, Status.TIMEOUT);
        }
        status = qp.poll(ticket);
      }
      if (status != Status.DONE) {
        throw BandwidthLoad.failed(qp, status);
      }
    }
  }

  /** WRITE: the last byte counts; each side polls the one that the other writes. */
  static final class Writes implements LatencyLoad.Mover {
    private final Initiator initiator;
    private final Batch batch;
    private final MemorySegment leaving;
    private final MemorySegment arriving;
    private final long last;

    Writes(Side side, Initiator initiator, Batch batch, int size) {
      this.initiator = initiator;
      this.batch = batch;
      leaving = side.outSlot(0, size);
      arriving = side.inSlot(0, size);
      last = size - 1L;
    }

    @Override
    public void roundTrip(long number) {
      send(number);
      Idle idle = new Idle(Load.PATIENCE_NANOS);
      while (!arrived(number)) {
        if (!idle.again()) {
          throw BandwidthLoad.failed(batch.queuePair(), Status.TIMEOUT);
        }
      }
    }

    void send(long number) {
      leaving.set(ValueLayout.JAVA_BYTE, last, (byte) number);
      submit(initiator, batch);
    }

    boolean arrived(long number) {
      return (byte) BYTE.getAcquire(arriving, last) == (byte) number;
    }
  }

  /** SEND: each side waits for a receive's completion. */
  static final class Sends implements LatencyLoad.Mover {
    private final Side side;
    private final Initiator initiator;
    private final Batch batch;
    private final int size;
    private final LocalMemory[] where;

    Sends(Side side, Initiator initiator, Batch batch, int size) {
      this.side = side;
      this.initiator = initiator;
      this.batch = batch;
      this.size = size;
      where = new LocalMemory[] {side.in(0, side.plan.largest())};
    }

    @Override
    public void prepare() {
      while (side.postReceive(0, where)) {
        // Until the queue is full.
      }
    }

    @Override
    public void roundTrip(long number) {
      send();
      Idle idle = new Idle(Load.PATIENCE_NANOS);
      while (!arrived()) {
        if (!idle.again()) {
          throw BandwidthLoad.failed(batch.queuePair(), Status.TIMEOUT);
        }
      }
    }

    void send() {
      submit(initiator, batch);
    }

    boolean arrived() {
      if (side.pollReceived() == 0) {
        return false;
      }
      long bytes = side.completions.byteLength(0);
      if (bytes != size) {
        throw new PerfException("a message of " + bytes + " bytes arrived, not of " + size);
      }
      side.postReceive(0, where);
      return true;
    }
  }
}
