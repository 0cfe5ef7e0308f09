// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.gpuverbs.internal.wire.Cqe;

/** An owner-bit CQ and its consumer. */
final class CqRing {
  final MemorySegment ring;
  final int depth;
  final SoftCq cq;
  long index;

  CqRing(SoftNic nic, Arena arena, int depth) {
    this.depth = depth;
    ring = arena.allocate(64L * depth, 64).fill((byte) 0xff);
    cq = nic.createCq(ring, depth);
  }

  boolean ready() {
    return Cqe.valid(ring, 64 * (index & (depth - 1)), index, depth);
  }

  /** The next completion, awaited. */
  Completion take() {
    Await.until("a completion in the CQ", this::ready);
    Completion completion = Completion.read(ring, 64 * (index & (depth - 1)));
    index++;
    cq.consumed(index);
    return completion;
  }
}
