// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Remote atomics on host memory: atomic among all NIC threads of this JVM and all CPU threads.
 * Memory holds host-order numbers. Each returns the value before.
 */
final class Atomics {
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private Atomics() {}

  static long fetchAdd(MemorySegment memory, long offset, long add) {
    return (long) LONG.getAndAdd(memory, offset, add);
  }

  static long compareSwap(MemorySegment memory, long offset, long compare, long swap) {
    return (long) LONG.compareAndExchange(memory, offset, compare, swap);
  }

  /**
   * Adds field by field: each set bit of boundary is the top bit of a field, whose carry is
   * dropped.
   */
  static long maskedFetchAdd(MemorySegment memory, long offset, long add, long boundary) {
    long old = (long) LONG.getVolatile(memory, offset);
    while (true) {
      long seen = (long) LONG.compareAndExchange(memory, offset, old, fieldAdd(old, add, boundary));
      if (seen == old) {
        return old;
      }
      old = seen;
    }
  }

  static int maskedFetchAdd(MemorySegment memory, long offset, int add, int boundary) {
    int old = (int) INT.getVolatile(memory, offset);
    while (true) {
      int sum = (int) fieldAdd(old, add, boundary);
      int seen = (int) INT.compareAndExchange(memory, offset, old, sum);
      if (seen == old) {
        return old;
      }
      old = seen;
    }
  }

  /** Where memory equals compare under compareMask, the bits of swapMask become swap's. */
  static long maskedCompareSwap(
      MemorySegment memory, long offset, long compare, long compareMask, long swap, long swapMask) {
    long old = (long) LONG.getVolatile(memory, offset);
    while (((old ^ compare) & compareMask) == 0) {
      long seen =
          (long)
              LONG.compareAndExchange(memory, offset, old, (old & ~swapMask) | (swap & swapMask));
      if (seen == old) {
        return old;
      }
      old = seen;
    }
    return old;
  }

  static int maskedCompareSwap(
      MemorySegment memory, long offset, int compare, int compareMask, int swap, int swapMask) {
    int old = (int) INT.getVolatile(memory, offset);
    while (((old ^ compare) & compareMask) == 0) {
      int seen =
          (int) INT.compareAndExchange(memory, offset, old, (old & ~swapMask) | (swap & swapMask));
      if (seen == old) {
        return old;
      }
      old = seen;
    }
    return old;
  }

  /** What a masked compare-swap leaves. */
  static long swapped(long old, long compare, long compareMask, long swap, long swapMask) {
    return ((old ^ compare) & compareMask) == 0 ? (old & ~swapMask) | (swap & swapMask) : old;
  }

  // Without their top bits no field can carry; the top bits are then added without carry.
  static long fieldAdd(long a, long b, long boundary) {
    return ((a & ~boundary) + (b & ~boundary)) ^ ((a ^ b) & boundary);
  }
}
