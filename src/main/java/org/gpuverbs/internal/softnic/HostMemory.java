// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Loads and stores at host addresses: rings, doorbells and CQEs, whose lifetime {@link
 * SoftQp#close} guarantees. Payload never goes through here.
 *
 * <p>One static final segment over everything costs no bounds check and no liveness check per
 * access.
 */
final class HostMemory {
  /** Everything; empty if native access is denied, see {@link #ensureAccessible}. */
  static final MemorySegment ALL = everything();

  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private HostMemory() {}

  // A class initialiser must not fail, so a refusal is kept for ensureAccessible.
  private static MemorySegment everything() {
    try {
      return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    } catch (IllegalCallerException e) {
      return MemorySegment.NULL;
    }
  }

  static void ensureAccessible() {
    if (ALL.byteSize() == 0) {
      Module module = HostMemory.class.getModule();
      throw new IllegalCallerException(
          "native access is denied to the software NIC; start java with --enable-native-access="
              + (module.isNamed() ? module.getName() : "ALL-UNNAMED"));
    }
  }

  static long getLong(long address) {
    return ALL.get(ValueLayout.JAVA_LONG, address);
  }

  /** A big-endian long. */
  static long getBe64(long address) {
    return Long.reverseBytes(ALL.get(ValueLayout.JAVA_LONG, address));
  }

  static int getBe32(long address) {
    return Integer.reverseBytes(ALL.get(ValueLayout.JAVA_INT, address));
  }

  static int getBe32Acquire(long address) {
    return Integer.reverseBytes((int) INT.getAcquire(ALL, address));
  }

  static long getLongOpaque(long address) {
    return (long) LONG.getOpaque(ALL, address);
  }

  static long getAndSetLong(long address, long value) {
    return (long) LONG.getAndSet(ALL, address, value);
  }

  static void putLong(long address, long value) {
    ALL.set(ValueLayout.JAVA_LONG, address, value);
  }

  static void putLongRelease(long address, long value) {
    LONG.setRelease(ALL, address, value);
  }
}
