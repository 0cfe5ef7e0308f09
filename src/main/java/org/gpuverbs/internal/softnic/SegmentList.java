// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.internal.wire.Mlx5;

/** Scratch list of checked pieces of memory, in message order. One NIC thread. */
final class SegmentList {
  // Each unit of a WQE gives at most one piece, and an inline segment one more where the ring
  // wraps.
  private static final int CAPACITY = Mlx5.MAX_DS + 1;

  final MemorySegment[] segment = new MemorySegment[CAPACITY];
  final long[] offset = new long[CAPACITY];
  final long[] length = new long[CAPACITY];

  /** The address that offset counts from. */
  final long[] base = new long[CAPACITY];

  /** Whether a copy engine may take it as it is: a device's, or pinned. */
  final boolean[] direct = new boolean[CAPACITY];

  /** The engine of a piece that the CPU can't touch; null if there is none. */
  CopyEngine device;

  int count;
  long total;

  void add(SoftMr mr, long at, long bytes) {
    if (!mr.host) {
      device = mr.engine;
    }
    base[count] = mr.address;
    direct[count] = mr.engine != null;
    put(mr.segment, at, bytes);
  }

  /** Host memory that belongs to no region. */
  void add(MemorySegment memory, long at, long bytes) {
    base[count] = 0;
    direct[count] = false;
    put(memory, at, bytes);
  }

  private void put(MemorySegment memory, long at, long bytes) {
    segment[count] = memory;
    offset[count] = at;
    length[count] = bytes;
    count++;
    total += bytes;
  }

  /** Forgets the segments too, so that no user memory is kept alive. */
  void clear() {
    for (int i = 0; i < count; i++) {
      segment[i] = null;
    }
    count = 0;
    total = 0;
    device = null;
  }

  /** Whether every piece's arena is still open. */
  boolean alive() {
    for (int i = 0; i < count; i++) {
      if (segment[i] != null && !segment[i].scope().isAlive()) {
        return false;
      }
    }
    return true;
  }
}
