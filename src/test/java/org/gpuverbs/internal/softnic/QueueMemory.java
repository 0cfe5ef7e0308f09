// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The memory of one QP, as its owner prepares it. */
final class QueueMemory {
  final int depth;
  final int receiveDepth;
  final MemorySegment ring;
  final MemorySegment dbr;
  final MemorySegment doorbell;
  final MemorySegment cqe;
  final MemorySegment receiveRing;

  QueueMemory(Arena arena, int depth, int receiveDepth) {
    this.depth = depth;
    this.receiveDepth = receiveDepth;
    ring = arena.allocate(64L * depth, 4096);
    dbr = arena.allocate(64, 64);
    doorbell = arena.allocate(64, 64);
    cqe = arena.allocate(64, 64).fill((byte) 0xff);
    receiveRing = receiveDepth == 0 ? null : arena.allocate(64L * receiveDepth, 64);
  }

  /** Collapsed without a send CQ. */
  SoftQpAttr attr(SoftCq sendCq, SoftCq receiveCq) {
    return new SoftQpAttr(
        ring,
        depth,
        dbr,
        doorbell,
        sendCq == null ? cqe : null,
        sendCq,
        receiveRing,
        receiveDepth,
        receiveCq);
  }

  /** As after creation. */
  void clear() {
    ring.fill((byte) 0);
    dbr.fill((byte) 0);
    doorbell.fill((byte) 0);
    cqe.fill((byte) 0xff);
  }
}
