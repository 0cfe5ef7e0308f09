// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import org.gpuverbs.internal.deferred.Counters;
import org.gpuverbs.internal.deferred.DeferredQueue;

/**
 * What a {@link DeferredSender} has counted since it was made.
 *
 * @param accepted sends taken
 * @param inline sends released within their call
 * @param released sends released, inline ones too
 * @param delivered sends delivered
 * @param failed sends that failed, before or after their release
 * @param cancelled sends cancelled
 * @param refused calls refused for lack of room
 * @param waiting sends that wait for device work, for those before them, or for room
 * @param underWay sends between call and end
 * @param deferralTotal from call to release, of all deferred sends together
 * @param deferralMost the longest of them
 * @param deferrals how many took at least 2<sup>i-1</sup> and less than 2<sup>i</sup> ns, by i
 */
public record DeferralMetrics(
    long accepted,
    long inline,
    long released,
    long delivered,
    long failed,
    long cancelled,
    long refused,
    long waiting,
    int underWay,
    Duration deferralTotal,
    Duration deferralMost,
    long[] deferrals) {
  /** Keeps a copy of the array. */
  public DeferralMetrics {
    deferrals = deferrals.clone();
  }

  static DeferralMetrics of(DeferredQueue queue) {
    Counters c = queue.counters();
    return new DeferralMetrics(
        c.accepted(),
        c.inline(),
        c.released(),
        c.delivered(),
        c.failed(),
        c.cancelled(),
        c.refused(),
        c.waiting(),
        queue.underWay(),
        Duration.ofNanos(c.deferralNanos()),
        Duration.ofNanos(c.longestDeferralNanos()),
        c.deferrals());
  }

  /**
   * How many took how long: see the record.
   *
   * @return a copy
   */
  @Override
  public long[] deferrals() {
    return deferrals.clone();
  }

  /**
   * The mean time from call to release.
   *
   * @return zero if nothing was deferred
   */
  public Duration deferralMean() {
    long deferred = released - inline;
    return deferred <= 0 ? Duration.ZERO : deferralTotal.dividedBy(deferred);
  }

  /**
   * How long that share of the deferred sends waited at most, to a power of two.
   *
   * @param share 0..1, such as 0.99
   * @return zero if nothing was deferred
   * @throws IllegalArgumentException if the share is out of range
   */
  public Duration deferralQuantile(double share) {
    if (!(share >= 0 && share <= 1)) {
      throw new IllegalArgumentException("a share of " + share + ": take 0..1");
    }
    long all = 0;
    for (long count : deferrals) {
      all += count;
    }
    long wanted = (long) Math.ceil(share * all);
    long seen = 0;
    for (int i = 0; i < deferrals.length; i++) {
      seen += deferrals[i];
      if (seen >= wanted && seen > 0) {
        return Duration.ofNanos(i == 0 ? 0 : 1L << Math.min(i, 62));
      }
    }
    return Duration.ZERO;
  }
}
