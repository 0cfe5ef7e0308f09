// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Masked atomics against a bit-by-bit reference. */
class AtomicsTest {
  private final MemorySegment memory = Arena.ofAuto().allocate(16, 8);

  /** A ripple adder whose carry stops behind each boundary bit. */
  private static long ripple(long a, long b, long boundary, int bits) {
    long sum = 0;
    long carry = 0;
    for (int i = 0; i < bits; i++) {
      long x = a >>> i & 1;
      long y = b >>> i & 1;
      sum |= (x ^ y ^ carry) << i;
      carry = (boundary >>> i & 1) != 0 ? 0 : x & y | x & carry | y & carry;
    }
    return sum;
  }

  @Property
  void eightByteFieldAdd(@ForAll long old, @ForAll long add, @ForAll long boundary) {
    memory.set(ValueLayout.JAVA_LONG, 8, old);
    assertEquals(old, Atomics.maskedFetchAdd(memory, 8, add, boundary));
    assertEquals(ripple(old, add, boundary, 64), memory.get(ValueLayout.JAVA_LONG, 8));
  }

  @Property
  void fourByteFieldAdd(@ForAll int old, @ForAll int add, @ForAll int boundary) {
    memory.set(ValueLayout.JAVA_INT, 4, old);
    assertEquals(old, Atomics.maskedFetchAdd(memory, 4, add, boundary));
    assertEquals((int) ripple(old, add, boundary, 32), memory.get(ValueLayout.JAVA_INT, 4));
  }

  @Property
  void eightByteCompareSwap(
      @ForAll long old,
      @ForAll long compare,
      @ForAll long compareMask,
      @ForAll long swap,
      @ForAll long swapMask,
      @ForAll boolean equal) {
    long operand = equal ? (old & compareMask) | (compare & ~compareMask) : compare;
    memory.set(ValueLayout.JAVA_LONG, 0, old);
    assertEquals(old, Atomics.maskedCompareSwap(memory, 0, operand, compareMask, swap, swapMask));
    boolean match = (old & compareMask) == (operand & compareMask);
    assertEquals(
        match ? (old & ~swapMask) | (swap & swapMask) : old, memory.get(ValueLayout.JAVA_LONG, 0));
  }

  @Property
  void fourByteCompareSwap(
      @ForAll int old,
      @ForAll int compare,
      @ForAll int compareMask,
      @ForAll int swap,
      @ForAll int swapMask,
      @ForAll boolean equal) {
    int operand = equal ? (old & compareMask) | (compare & ~compareMask) : compare;
    memory.set(ValueLayout.JAVA_INT, 0, old);
    assertEquals(old, Atomics.maskedCompareSwap(memory, 0, operand, compareMask, swap, swapMask));
    boolean match = (old & compareMask) == (operand & compareMask);
    assertEquals(
        match ? (old & ~swapMask) | (swap & swapMask) : old, memory.get(ValueLayout.JAVA_INT, 0));
  }
}
