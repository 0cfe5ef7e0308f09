// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** In which order a NIC's writes reach a memory region. */
public enum Ordering {
  /** As they were sent: a word written last is seen last. */
  STRICT,
  /**
   * PCI Express may let writes pass each other, which is faster on some platforms. What has arrived
   * is known by a completion alone, never by looking at the memory: {@link SignalWait} refuses such
   * a region, and kernels must not wait for words in it either. The software NIC, which has no PCI
   * Express, keeps the order.
   */
  RELAXED;

  /** IBV_ACCESS_RELAXED_ORDERING of rdma-core's libibverbs/verbs.h. */
  private static final int RELAXED_BIT = 1 << 20;

  int bits() {
    return this == RELAXED ? RELAXED_BIT : 0;
  }
}
