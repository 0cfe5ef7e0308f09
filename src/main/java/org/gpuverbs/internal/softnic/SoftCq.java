// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.internal.wire.Mlx5;

/** An owner-bit completion queue that a software NIC produces into. */
public final class SoftCq {
  private static final int MAX_DEPTH = 1 << 22;

  private final MemorySegment memory; // keeps an automatic arena's memory alive
  private final long ring;
  private final int depth;
  private final long dbr;
  private final boolean ignoreOverrun;
  // NIC threads of several QPs produce here.
  private final SpinLock lock = new SpinLock();
  private long produced;
  private long consumedCache;
  private volatile long consumed;
  private volatile boolean overflowed;

  SoftCq(MemorySegment ring, int depth, MemorySegment dbr, boolean ignoreOverrun) {
    if (depth < 1 || depth > MAX_DEPTH || Integer.bitCount(depth) != 1) {
      throw new IllegalArgumentException(
          "depth must be a power of two, 1.." + MAX_DEPTH + ": " + depth);
    }
    SoftQpAttr.memory("ring", ring, (long) depth * Mlx5.CQE_SIZE, Mlx5.CQE_SIZE);
    if (dbr != null) {
      SoftQpAttr.memory("dbr", dbr, 4, 4);
    }
    this.memory = ring;
    this.ring = ring.address();
    this.depth = depth;
    this.dbr = dbr == null ? 0 : dbr.address();
    this.ignoreOverrun = ignoreOverrun;
  }

  /** CQEs. */
  public int depth() {
    return depth;
  }

  /**
   * Tells the NIC how many CQEs the consumer has taken in all; room is counted from it, as a real
   * CQ's doorbell record does. One thread at a time; never back.
   */
  public void consumed(long consumerIndex) {
    consumed = consumerIndex;
  }

  /** Whether a completion was lost because the queue was full. Its QP is then in ERROR. */
  public boolean overflowed() {
    return overflowed;
  }

  /** Writes one CQE; false if there is no room, and then nothing is written. */
  boolean put(
      int opcode,
      boolean solicited,
      int sopQpn,
      int wqeCounter,
      long byteCount,
      int immediate,
      int syndrome,
      int vendor) {
    lock.lock();
    try {
      if (produced - consumedCache >= depth && !ignoreOverrun && !room()) {
        overflowed = true;
        return false;
      }
      int owner = (produced & depth) != 0 ? 1 : 0;
      int opOwn = opcode << 4 | (solicited ? Mlx5.CQE_SE : 0) | owner;
      CqeWriter.write(
          ring + ((produced & (depth - 1)) << Mlx5.CQE_SHIFT),
          opOwn,
          sopQpn,
          wqeCounter,
          byteCount,
          immediate,
          syndrome,
          vendor);
      produced++;
      return true;
    } finally {
      lock.unlock();
    }
  }

  private boolean room() {
    if (dbr == 0) {
      consumedCache = consumed;
    } else {
      // The record holds the low 24 bits; the consumer is at most depth (<= 2^22) behind.
      int behind = ((int) produced - HostMemory.getBe32Acquire(dbr)) & 0xff_ffff;
      consumedCache = produced - behind;
    }
    return produced - consumedCache < depth;
  }
}
