// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;

/**
 * Message bytes from, to and within devices, for one NIC thread. Copies are started in message
 * order and waited for together, by {@link #settle}: before a completion says that they are done,
 * and before the CPU touches memory for a later message (RC order).
 *
 * <p>Plain host memory goes through the stream's staging, since a raw copy would not notice that
 * its arena is closed.
 */
final class DevicePayload {
  private static final int COPY_OUTS = 256;

  /** The longest run of adjacent messages that becomes one copy. */
  private static final long MERGED = 1L << 26;

  private static final CopyLane[] NONE = {};

  /** Makes read-modify-writes atomic among all NIC threads. */
  private static final SpinLock ATOMICS = new SpinLock();

  private static final int OLD_AT = 0;
  private static final int NEW_AT = 64;

  private volatile CopyLane[] lanes = NONE;

  /** The lane with copies that nobody has waited for, or null. */
  private CopyLane dirty;

  /** Index of the WQE that the first of them belongs to. */
  private long dirtyCi;

  // The copy that the next one may extend; not started yet.
  private long mergeTo;
  private long mergeFrom;
  private long mergeBytes;

  /** Whether it is from a device to a device. */
  private boolean mergeBounces;

  // Where staged bytes go once they have arrived.
  private final MemorySegment[] outSegment = new MemorySegment[COPY_OUTS];
  private final long[] outOffset = new long[COPY_OUTS];
  private final long[] outBytes = new long[COPY_OUTS];
  private final long[] outStaged = new long[COPY_OUTS];
  private int outs;
  private int failure;
  private long currentCi;
  private long failedCi = -1;

  /** An open stream of a device. */
  private static final class CopyLane {
    final CopyEngine engine;
    final CopyEngine.Stream stream;
    final long staging;
    final int stagingBytes;

    /** Behind the staging: where copies from a device to a device pass through. */
    final long bounce;

    final int bounceBytes;
    int used;

    CopyLane(CopyEngine engine) {
      this.engine = engine;
      stream = engine.open();
      staging = stream.staging();
      stagingBytes = stream.stagingBytes() / 2;
      bounce = staging + stagingBytes;
      bounceBytes = stagingBytes;
    }
  }

  /** Opens a stream of the engine, unless there is one. */
  synchronized void add(CopyEngine engine) {
    for (CopyLane lane : lanes) {
      if (lane.engine == engine) {
        return;
      }
    }
    CopyLane[] more = java.util.Arrays.copyOf(lanes, lanes.length + 1);
    more[lanes.length] = new CopyLane(engine);
    lanes = more;
  }

  /**
   * Forgets the engine: all of them if null. What it gives closes the streams, once no pass can use
   * them.
   */
  synchronized Runnable remove(CopyEngine engine) {
    CopyLane[] before = lanes;
    lanes =
        java.util.Arrays.stream(before)
            .filter(lane -> engine != null && lane.engine != engine)
            .toArray(CopyLane[]::new);
    return () -> {
      for (CopyLane lane : before) {
        if (engine == null || lane.engine == engine) {
          lane.stream.close();
        }
      }
    };
  }

  boolean dirty() {
    return dirty != null;
  }

  /** Index of the first WQE whose copies have failed, said once; -1 if none have. */
  long takeFailedCi() {
    long ci = failedCi;
    failedCi = -1;
    return ci;
  }

  static boolean involved(SegmentList local, SoftMr remote) {
    return local.device != null || !remote.host;
  }

  int gather(SoftQp q, SegmentList from, SoftMr to, long toAt) {
    if (!begin(q, from.device != null ? from.device : to.engine)) {
      return failed();
    }
    long at = toAt;
    for (int i = 0; i < from.count; i++) {
      move(
          from.segment[i],
          from.base[i],
          from.offset[i],
          from.direct[i],
          to.segment,
          to.address,
          at,
          to.engine != null,
          from.length[i]);
      at += from.length[i];
    }
    return failure;
  }

  int scatter(SoftQp q, SoftMr from, long fromAt, SegmentList to) {
    if (!begin(q, to.device != null ? to.device : from.engine)) {
      return failed();
    }
    long at = fromAt;
    for (int i = 0; i < to.count; i++) {
      move(
          from.segment,
          from.address,
          at,
          from.engine != null,
          to.segment[i],
          to.base[i],
          to.offset[i],
          to.direct[i],
          to.length[i]);
      at += to.length[i];
    }
    return failure;
  }

  /** Copies all of {@code from} to the beginning of {@code to}, which is at least as long. */
  int copy(SoftQp q, SegmentList from, SegmentList to) {
    if (!begin(q, from.device != null ? from.device : to.device)) {
      return failed();
    }
    int target = 0;
    long filled = 0;
    for (int i = 0; i < from.count; i++) {
      long done = 0;
      while (done < from.length[i]) {
        if (filled == to.length[target]) {
          target++;
          filled = 0;
          continue;
        }
        long bytes = Math.min(from.length[i] - done, to.length[target] - filled);
        move(
            from.segment[i],
            from.base[i],
            from.offset[i] + done,
            from.direct[i],
            to.segment[target],
            to.base[target],
            to.offset[target] + filled,
            to.direct[target],
            bytes);
        done += bytes;
        filled += bytes;
      }
    }
    return failure;
  }

  /** How an atomic makes the new value of the old one. */
  interface Update {
    long apply(long old);
  }

  private long fetched;

  /** The value before, after {@link #atomic} gave OK. */
  long fetched() {
    return fetched;
  }

  /** A read-modify-write of 4 or 8 bytes in device memory; all copies are done when it is. */
  int atomic(SoftQp q, SoftMr mr, long offset, int size, Update update) {
    int before = settle();
    if (before != Result.OK) {
      return before;
    }
    if (!ATOMICS.lock(Fabric.deadline())) {
      return failed();
    }
    try {
      if (!begin(q, mr.engine)) {
        return failed();
      }
      CopyLane lane = dirty;
      long address = mr.address + offset;
      enqueue(lane.staging + OLD_AT, address, size);
      int result = settle();
      if (result != Result.OK) {
        return result;
      }
      fetched = load(lane.staging + OLD_AT, size);
      long next = update.apply(fetched);
      if (next == fetched) {
        return Result.OK;
      }
      store(lane.staging + NEW_AT, size, next);
      begin(q, mr.engine);
      enqueue(address, lane.staging + NEW_AT, size);
      return settle();
    } finally {
      ATOMICS.unlock();
    }
  }

  private static long load(long address, int size) {
    return size == 8
        ? HostMemory.getLong(address)
        : HostMemory.ALL.get(ValueLayout.JAVA_INT, address);
  }

  private static void store(long address, int size, long value) {
    if (size == 8) {
      HostMemory.putLong(address, value);
    } else {
      HostMemory.ALL.set(ValueLayout.JAVA_INT, address, (int) value);
    }
  }

  /**
   * Stores an atomic's result, of 4 or 8 bytes in host order, where at least one piece is a
   * device's.
   */
  int result(SoftQp q, long value, int size, SegmentList to) {
    int before = settle();
    if (before != Result.OK) {
      return before;
    }
    if (!begin(q, to.device)) {
      return failed();
    }
    CopyLane lane = dirty;
    store(lane.staging, size, value);
    lane.used = NEW_AT;
    long at = 0;
    for (int i = 0; i < to.count; i++) {
      move(
          null,
          lane.staging,
          at,
          true,
          to.segment[i],
          to.base[i],
          to.offset[i],
          to.direct[i],
          to.length[i]);
      at += to.length[i];
    }
    return failure;
  }

  /** Takes the lane of the engine for the copies of q's WQE at ci; false if it can't be had. */
  private boolean begin(SoftQp q, CopyEngine engine) {
    if (dirty != null && dirty.engine != engine && settle() != Result.OK) {
      return false;
    }
    currentCi = q.ci;
    if (dirty != null) {
      return true;
    }
    failure = Result.OK;
    failedCi = -1;
    for (CopyLane lane : lanes) {
      if (lane.engine == engine) {
        dirty = lane;
        dirtyCi = q.ci;
        return true;
      }
    }
    return false;
  }

  private static int failed() {
    return Result.error(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.COPY_FAILED);
  }

  /** One piece to one place: addresses are base + offset; a device's segment is null. */
  private void move(
      MemorySegment from,
      long fromBase,
      long fromAt,
      boolean fromDirect,
      MemorySegment to,
      long toBase,
      long toAt,
      boolean toDirect,
      long bytes) {
    long done = 0;
    while (done < bytes && failure == Result.OK) {
      long left = bytes - done;
      if (fromDirect && toDirect) {
        enqueue(toBase + toAt + done, fromBase + fromAt + done, left, from == null && to == null);
        return;
      }
      if (from != null && to != null) {
        // Both are the CPU's: in order behind what devices still do.
        settleWithin();
        if (failure == Result.OK) {
          Payload.copy(from, fromAt, to, toAt, bytes);
        }
        return;
      }
      CopyLane lane = dirty;
      if (lane.used == lane.stagingBytes || outs == COPY_OUTS || (!fromDirect && outs > 0)) {
        // A staged source must not be older than what is still on its way to it.
        settleWithin();
        continue;
      }
      long n = Math.min(left, lane.stagingBytes - lane.used);
      long staged = lane.staging + lane.used;
      if (fromDirect) {
        enqueue(staged, fromBase + fromAt + done, n);
        outSegment[outs] = to;
        outOffset[outs] = toAt + done;
        outBytes[outs] = n;
        outStaged[outs] = staged;
        outs++;
      } else {
        Payload.copy(from, fromAt + done, HostMemory.ALL, staged, n);
        enqueue(toBase + toAt + done, staged, n);
      }
      lane.used += (int) n;
      done += n;
    }
  }

  /** In the middle of a message. */
  private void settleWithin() {
    CopyLane lane = dirty;
    if (settle() == Result.OK) {
      dirty = lane;
      dirtyCi = currentCi;
    }
  }

  private void enqueue(long to, long from, long bytes) {
    enqueue(to, from, bytes, false);
  }

  private void enqueue(long to, long from, long bytes, boolean bounces) {
    if (mergeBytes > 0
        && mergeBounces == bounces
        && to == mergeTo + mergeBytes
        && from == mergeFrom + mergeBytes
        && mergeBytes + bytes <= MERGED
        && apart(mergeTo, mergeFrom, mergeBytes + bytes)) {
      mergeBytes += bytes;
      return;
    }
    start();
    mergeTo = to;
    mergeFrom = from;
    mergeBytes = bytes;
    mergeBounces = bounces;
  }

  /** One copy may read what it writes in any order; two messages may not. */
  private static boolean apart(long a, long b, long bytes) {
    return Math.abs(a - b) >= bytes;
  }

  private void start() {
    boolean started = true;
    if (mergeBytes > 0 && mergeBounces) {
      started = startBouncing();
    } else if (mergeBytes > 0) {
      started = dirty.stream.start(mergeTo, mergeFrom, mergeBytes) == 0;
    }
    if (!started) {
      failure = failed();
    }
    mergeBytes = 0;
  }

  /**
   * Within a device CUDA copies by a kernel, which never runs beside one that fills the device and
   * waits for this NIC; to and from pinned memory the copy engine does it. The stream's order lets
   * every part pass through the same memory.
   */
  private boolean startBouncing() {
    CopyLane lane = dirty;
    boolean started = true;
    for (long done = 0; done < mergeBytes && started; done += lane.bounceBytes) {
      long n = Math.min(lane.bounceBytes, mergeBytes - done);
      started =
          lane.stream.start(lane.bounce, mergeFrom + done, n) == 0
              && lane.stream.start(mergeTo + done, lane.bounce, n) == 0;
    }
    return started;
  }

  /** Waits until everything started is done, at most {@link Fabric#PATIENCE}; {@link Result}. */
  int settle() {
    CopyLane lane = dirty;
    if (lane == null) {
      return Result.OK;
    }
    start();
    int state = lane.stream.query();
    long deadline = 0;
    for (int spins = 0; state == 1; spins++) {
      Thread.onSpinWait();
      if ((spins & 1023) == 1023) {
        if (deadline == 0) {
          deadline = Fabric.deadline();
        } else if (System.nanoTime() - deadline >= 0) {
          break;
        }
      }
      state = lane.stream.query();
    }
    if (state != 0) {
      failure = failed();
    }
    try {
      for (int i = 0; i < outs && failure == Result.OK; i++) {
        Payload.copy(HostMemory.ALL, outStaged[i], outSegment[i], outOffset[i], outBytes[i]);
      }
    } catch (IllegalStateException | InternalError e) {
      failure = Result.error(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_CLOSED);
    }
    java.util.Arrays.fill(outSegment, 0, outs, null);
    outs = 0;
    lane.used = 0;
    dirty = null;
    if (failure != Result.OK) {
      failedCi = dirtyCi;
    }
    return failure;
  }
}
