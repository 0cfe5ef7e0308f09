// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** Where a queue pair's ring, doorbell record and completion queue lie. */
public enum Placement {
  /** GPU memory: device-initiated, one-sided, no receive queue. Path DIRECT alone. */
  GPU,
  /**
   * Host memory, pinned for the queue pairs of a GPU: CPU lane threads, receiving queue pairs, and
   * the paths PROXY and SOFT.
   */
  HOST
}
