// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Moves message bytes between registered segments. A closed arena throws IllegalStateException.
 *
 * <p>Messages of 4 and 8 bytes are one store, so that a flag or a signal is never seen half
 * written.
 */
final class Payload {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  private Payload() {}

  static void copy(MemorySegment from, long at, MemorySegment to, long toAt, long bytes) {
    if (bytes == 8) {
      to.set(LONG, toAt, from.get(LONG, at));
    } else if (bytes == 4) {
      to.set(INT, toAt, from.get(INT, at));
    } else {
      MemorySegment.copy(from, at, to, toAt, bytes);
    }
  }

  static void gather(SegmentList from, MemorySegment to, long toAt) {
    long at = toAt;
    for (int i = 0; i < from.count; i++) {
      copy(from.segment[i], from.offset[i], to, at, from.length[i]);
      at += from.length[i];
    }
  }

  /** Fills {@code to}, whose total is the message's. */
  static void scatter(MemorySegment from, long fromAt, SegmentList to) {
    long at = fromAt;
    for (int i = 0; i < to.count; i++) {
      copy(from, at, to.segment[i], to.offset[i], to.length[i]);
      at += to.length[i];
    }
  }

  /** Copies all of {@code from} to the beginning of {@code to}, which is at least as long. */
  static void copy(SegmentList from, SegmentList to) {
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
        copy(
            from.segment[i],
            from.offset[i] + done,
            to.segment[target],
            to.offset[target] + filled,
            bytes);
        done += bytes;
        filled += bytes;
      }
    }
  }

  /**
   * Stores the low {@code bytes} (4 or 8) of value in host order: how atomics return their result.
   */
  static void store(long value, int bytes, SegmentList to) {
    if (to.count == 1 && bytes == 8) {
      to.segment[0].set(LONG, to.offset[0], value);
    } else if (to.count == 1 && bytes == 4) {
      to.segment[0].set(INT, to.offset[0], (int) value);
    } else {
      int shift = 0;
      for (int i = 0; i < to.count; i++) {
        for (long k = 0; k < to.length[i]; k++) {
          to.segment[i].set(ValueLayout.JAVA_BYTE, to.offset[i] + k, (byte) (value >>> shift));
          shift += 8;
        }
      }
    }
  }
}
