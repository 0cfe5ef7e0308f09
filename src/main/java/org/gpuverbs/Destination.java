// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where sends go, asked at each release rather than at the call: what a channel sends to may have
 * moved while the send waited.
 *
 * <p>If the answer is another queue pair than the one that a batch was built for, it must be of the
 * same NIC, and the batch must consist of {@link WorkRequest.Send}, {@link
 * WorkRequest.SendImmediate} and {@link WorkRequest.Nop}: the others name memory of the old peer.
 * An ordered send waits until the channel's earlier ones are complete on the old queue pair.
 */
@FunctionalInterface
public interface Destination {
  /**
   * Where the destination is now. Called by the thread that sends or works, which holds the
   * sender's lock: it must be short, and may send but not work, reset or close.
   *
   * @return a connected queue pair; null if that is not known at present: the send waits
   */
  @Nullable QueuePair queuePair();

  /**
   * A destination that stays where it is.
   *
   * @param queuePair the queue pair
   * @return a destination; equal for the same queue pair
   */
  static Destination of(QueuePair queuePair) {
    return new FixedDestination(Objects.requireNonNull(queuePair, "queuePair"));
  }
}
