// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;

/**
 * How a queue pair's path was set up, and why not better.
 *
 * @param path who consumes the queues
 * @param doorbell what is rung
 * @param ringer who rings it
 * @param queueMemory how the NIC reaches ring, doorbell record and completion queue
 * @param why why nothing better was taken; empty if there is nothing better on this path
 */
public record PathDetails(
    Path path, Doorbell doorbell, Ringer ringer, QueueMemory queueMemory, String why) {
  /** What submitters, or the library's thread for them, write to. */
  public enum Doorbell {
    /** Paths PROXY and SOFT: a word in host memory that a thread looks at. */
    WORD,
    /** Path DIRECT: a non-cached register of the NIC for this queue pair alone. The best. */
    DEDICATED,
    /** Path DIRECT: a non-cached register of the NIC. */
    NON_CACHED,
    /** Path DIRECT: a write-combining register, as drivers since ConnectX-4 take it. */
    BLUEFLAME
  }

  /** How the NIC, or the thread in its place, reaches the queue's memory. */
  public enum QueueMemory {
    /** It lies in host memory. */
    HOST,
    /** It lies in GPU memory, exported as a dma-buf. */
    DMA_BUF,
    /** It lies in GPU memory, registered by the kernel module nvidia-peermem. */
    PEER_MEMORY
  }

  /** Checks that no component is null. */
  public PathDetails {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(doorbell, "doorbell");
    Objects.requireNonNull(ringer, "ringer");
    Objects.requireNonNull(queueMemory, "queueMemory");
    Objects.requireNonNull(why, "why");
  }

  /**
   * Such as {@code doorbell NON_CACHED rung by SUBMITTER, queue memory HOST (the device gives no
   * dedicated page)}.
   */
  @Override
  public String toString() {
    return "doorbell "
        + doorbell
        + " rung by "
        + ringer
        + ", queue memory "
        + queueMemory
        + (why.isEmpty() ? "" : " (" + why + ")");
  }
}
