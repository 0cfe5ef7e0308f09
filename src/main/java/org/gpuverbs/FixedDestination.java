// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** A queue pair for good. */
record FixedDestination(QueuePair queuePair) implements Destination {
  /** Such as {@code QueuePair 17}. */
  @Override
  public String toString() {
    return queuePair.toString();
  }
}
