// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import org.gpuverbs.Access;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;

/**
 * The memory that the demo registers at the near end: the window, and what fetch-adds fetch. Closed
 * with its NIC.
 */
final class Windows {
  /** The byte that a window is wiped with before it is written to. */
  static final byte WIPED = (byte) 0xA5;

  /** The most fetch-adds on one counter value range. */
  static final int MAX_ADDS = 8192;

  private final MemoryRegion source;
  private final MemoryRegion fetched;

  Windows(Nic nic, long bytes) {
    source = nic.allocate(bytes, Access.LOCAL_WRITE);
    fetched = nic.allocate((long) MAX_ADDS * Long.BYTES, Access.LOCAL_WRITE);
  }

  /** The near end: filled from the file, and read back to. */
  MemoryRegion source() {
    return source;
  }

  /** The near end's results of fetch-adds. */
  MemoryRegion fetched() {
    return fetched;
  }
}
