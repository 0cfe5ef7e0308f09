// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** What a queue pair can do now. */
public enum QueuePairState {
  /**
   * Created or reset: receives may be posted, requests are refused with {@link
   * Status#NOT_CONNECTED}.
   */
  RESET,
  /** Connected: ready to send and receive. */
  READY,
  /**
   * Something failed: outstanding requests are flushed; {@link QueuePair#reset()} starts afresh.
   */
  ERROR,
  /** Closed for good. */
  CLOSED
}
