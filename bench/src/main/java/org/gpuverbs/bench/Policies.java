// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import org.gpuverbs.FenceMode;
import org.gpuverbs.HandOver;
import org.gpuverbs.SubmitPolicy;

/** Policies by the names that parameters, options and plots use. */
public final class Policies {
  private Policies() {}

  /**
   * The policy of a hand-over and a fence mode. DEVICE is unchecked, since on the CPU it is there
   * to be compared with SYSTEM only.
   *
   * @param handOver a {@link HandOver} that is sound
   * @param fence a {@link FenceMode}
   * @param doorbellEvery requests
   * @return the policy
   */
  public static SubmitPolicy of(String handOver, String fence, int doorbellEvery) {
    HandOver how = HandOver.valueOf(handOver);
    FenceMode mode = FenceMode.valueOf(fence);
    return mode == FenceMode.SYSTEM
        ? new SubmitPolicy(how, mode, doorbellEvery, false)
        : SubmitPolicy.unchecked(how, mode, doorbellEvery);
  }
}
