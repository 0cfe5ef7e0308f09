// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;

/** An owner-bit completion queue that a software NIC produces into. */
public final class SoftCq {
  private final MemorySegment ring;
  private final int depth;

  SoftCq(MemorySegment ring, int depth) {
    this.ring = ring;
    this.depth = depth;
  }

  /** CQEs. */
  public int depth() {
    return depth;
  }

  /**
   * Tells the NIC how many CQEs the consumer has taken in all; room is counted from it, as a real CQ's doorbell record does.
   * One thread at a time; never back.
   */
  public void consumed(long consumerIndex) {
    throw new UnsupportedOperationException();
  }

  /** Whether a completion was lost because the queue was full. Its QP is then in ERROR. */
  public boolean overflowed() {
    throw new UnsupportedOperationException();
  }
}
