// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.util.Optional;
import org.gpuverbs.PathDetails.Doorbell;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.shim.DirectCalls;

/** What a device said of path DIRECT: what it can do, or why it can't. One of them is empty. */
public record DirectAnswer(Optional<Offer> offer, Optional<RdmaException> refusal) {
  /** What it can do, and its best doorbell. */
  public record Offer(DirectCalls.Info info, Doorbell doorbell) {}

  /** It can. */
  public static DirectAnswer of(Offer offer) {
    return new DirectAnswer(Optional.of(offer), Optional.empty());
  }

  /** It can't. */
  public static DirectAnswer of(RdmaException refusal) {
    return new DirectAnswer(Optional.empty(), Optional.of(refusal));
  }
}
