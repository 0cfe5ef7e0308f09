// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;

/**
 * A range of a memory region of ours: a request's data segment, or where a receive lands.
 *
 * @param region the region
 * @param offset bytes from the region's start
 * @param length bytes, 0..2<sup>30</sup>
 */
public record LocalMemory(MemoryRegion region, long offset, long length) {
  /** The most bytes of one segment. */
  public static final long MAX_LENGTH = 1L << 30;

  /**
   * Checks the range.
   *
   * @throws IndexOutOfBoundsException if the range is not inside the region
   * @throws IllegalArgumentException if it is longer than {@link #MAX_LENGTH}
   */
  public LocalMemory {
    Objects.requireNonNull(region, "region");
    Objects.checkFromIndexSize(offset, length, region.length());
    if (length > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "a segment of " + length + " bytes: take at most " + MAX_LENGTH + " and more requests");
    }
  }

  /**
   * The first byte's address.
   *
   * @return the region's address plus the offset
   */
  public long address() {
    return region.address() + offset;
  }
}
