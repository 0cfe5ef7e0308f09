// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import org.gpuverbs.Access;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;

/**
 * The memory that the demo registers: the near window, the far window, and what fetch-adds need.
 * Closed with its NIC.
 */
final class Windows {
  /** The most fetch-adds on one counter value range. */
  static final int MAX_ADDS = 8192;

  private final MemoryRegion source;
  private final MemoryRegion target;
  private final MemoryRegion counter;
  private final MemoryRegion fetched;

  Windows(Nic nic, long bytes) {
    source = nic.allocate(bytes, Access.LOCAL_WRITE);
    target = nic.allocate(bytes, Access.REMOTE_WRITE, Access.REMOTE_READ);
    counter = nic.allocate(Long.BYTES, Access.REMOTE_ATOMIC);
    fetched = nic.allocate((long) MAX_ADDS * Long.BYTES, Access.LOCAL_WRITE);
  }

  /** The near end: filled from the file, and read back to. */
  MemoryRegion source() {
    return source;
  }

  /** The far end. */
  MemoryRegion target() {
    return target;
  }

  /** The far end's counter. */
  MemoryRegion counter() {
    return counter;
  }

  /** The near end's results of fetch-adds. */
  MemoryRegion fetched() {
    return fetched;
  }
}
