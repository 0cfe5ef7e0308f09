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
  int count;
  long total;

  void add(MemorySegment memory, long at, long bytes) {
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
  }

  /** Whether every piece's arena is still open. */
  boolean alive() {
    for (int i = 0; i < count; i++) {
      if (!segment[i].scope().isAlive()) {
        return false;
      }
    }
    return true;
  }
}
