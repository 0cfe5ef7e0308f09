// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes that both sides can compute, so that what arrived can be checked where it arrived. */
final class Pattern {
  private Pattern() {}

  static void fill(MemorySegment memory, int seed) {
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, at(i, seed));
    }
  }

  /**
   * Where it differs first; -1 if nowhere. The last byte may be a counter: {@code but} leaves it
   * out.
   */
  static long mismatch(MemorySegment memory, int seed, int but) {
    for (long i = 0; i < memory.byteSize() - but; i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, i) != at(i, seed)) {
        return i;
      }
    }
    return -1;
  }

  private static byte at(long offset, int seed) {
    return (byte) (offset * 131 + (offset >>> 8) * 7 + seed * 29L + 1);
  }
}
