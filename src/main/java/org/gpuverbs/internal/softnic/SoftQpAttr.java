// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.gpuverbs.internal.wire.Mlx5;

/**
 * The memory of a QP. The NIC uses it by address, so it must stay allocated until {@link
 * SoftQp#close} has returned. Its first content is its owner's business: rings zeroed, doorbell
 * record and doorbell 0, CQEs invalid.
 *
 * @param ring send ring, {@code depth} * 64 bytes, 64-byte aligned
 * @param depth WQEBBs, a power of two, 1..16384
 * @param dbr doorbell record, 8 bytes: be32 receive, be32 send; 8-byte aligned
 * @param doorbell the 64-bit doorbell register; 8-byte aligned
 * @param collapsedCqe collapsed send CQ: its one CQE, 64-byte aligned; or null
 * @param sendCq full send CQ, or null; exactly one of the two is given
 * @param receiveRing {@code receiveDepth} * 64 bytes, 64-byte aligned; or null without a receive
 *     queue
 * @param receiveDepth a power of two, 1..16384; 0 without a receive queue
 * @param receiveCq where receives complete; null without a receive queue
 */
public record SoftQpAttr(
    MemorySegment ring,
    int depth,
    MemorySegment dbr,
    MemorySegment doorbell,
    MemorySegment collapsedCqe,
    SoftCq sendCq,
    MemorySegment receiveRing,
    int receiveDepth,
    SoftCq receiveCq) {

  public SoftQpAttr {
    Objects.requireNonNull(ring, "ring");
    Objects.requireNonNull(dbr, "dbr");
    Objects.requireNonNull(doorbell, "doorbell");
    depth("depth", depth);
    memory("ring", ring, (long) depth * Mlx5.WQEBB, Mlx5.WQEBB);
    memory("dbr", dbr, Mlx5.DBR_SIZE, 8);
    memory("doorbell", doorbell, 8, 8);
    if ((collapsedCqe == null) == (sendCq == null)) {
      throw new IllegalArgumentException("give collapsedCqe or sendCq, and not both");
    }
    if (collapsedCqe != null) {
      memory("collapsedCqe", collapsedCqe, Mlx5.CQE_SIZE, Mlx5.CQE_SIZE);
    }
    if (receiveRing != null) {
      depth("receiveDepth", receiveDepth);
      memory("receiveRing", receiveRing, (long) receiveDepth * Mlx5.RECEIVE_STRIDE, 64);
      Objects.requireNonNull(receiveCq, "receiveCq");
    } else if (receiveDepth != 0) {
      throw new IllegalArgumentException("receiveDepth without receiveRing: " + receiveDepth);
    }
  }

  private static void depth(String name, int depth) {
    if (depth < 1 || depth > 16384 || Integer.bitCount(depth) != 1) {
      throw new IllegalArgumentException(name + " must be a power of two, 1..16384: " + depth);
    }
  }

  static void memory(String name, MemorySegment segment, long bytes, long alignment) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(name + " must be native memory");
    }
    if (segment.byteSize() < bytes) {
      throw new IllegalArgumentException(
          name + " must have " + bytes + " bytes: " + segment.byteSize());
    }
    if ((segment.address() & (alignment - 1)) != 0) {
      throw new IllegalArgumentException(name + " must be aligned to " + alignment + " bytes");
    }
  }
}
