// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.time.Duration;
import java.util.Objects;

/**
 * Settings of a software NIC.
 *
 * @param threads NIC threads, 1..64; QPs are spread over them
 * @param maxMessageBytes the longest message, 1..2^31
 * @param rnrTimer how long a sender waits after "receiver not ready" before it counts one retry;
 *     positive
 * @param maxQueuePairs 1..2^20
 * @param doorbells when the doorbell record is read
 * @param flushesOverwrite false: a collapsed CQ keeps the CQE of its first error; true: the CQEs of
 *     what is flushed behind it overwrite it, as a ConnectX does
 * @param faults test hook, or null
 */
public record SoftNicConfig(
    int threads,
    long maxMessageBytes,
    Duration rnrTimer,
    int maxQueuePairs,
    DoorbellRule doorbells,
    boolean flushesOverwrite,
    FaultInjection faults) {

  private static final Duration LONGEST_TIMER = Duration.ofHours(1);

  public SoftNicConfig {
    range("threads", threads, 1, 64);
    range("maxMessageBytes", maxMessageBytes, 1, 1L << 31);
    range("maxQueuePairs", maxQueuePairs, 1, 1 << 20);
    timer("rnrTimer", rnrTimer);
    Objects.requireNonNull(doorbells, "doorbells");
  }

  /**
   * One thread, messages up to 1 GiB, RNR timer 1 ms, 16384 QPs, no faults; doorbells that are
   * looked at again, or strict ones by the property {@value DoorbellRule#PROPERTY}.
   */
  public static SoftNicConfig defaults() {
    return new SoftNicConfig(
        1, 1L << 30, Duration.ofMillis(1), 16384, DoorbellRule.byProperty(), false, null);
  }

  public SoftNicConfig withThreads(int threads) {
    return new SoftNicConfig(
        threads, maxMessageBytes, rnrTimer, maxQueuePairs, doorbells, flushesOverwrite, faults);
  }

  public SoftNicConfig withMaxMessageBytes(long maxMessageBytes) {
    return new SoftNicConfig(
        threads, maxMessageBytes, rnrTimer, maxQueuePairs, doorbells, flushesOverwrite, faults);
  }

  public SoftNicConfig withRnrTimer(Duration rnrTimer) {
    return new SoftNicConfig(
        threads, maxMessageBytes, rnrTimer, maxQueuePairs, doorbells, flushesOverwrite, faults);
  }

  public SoftNicConfig withMaxQueuePairs(int maxQueuePairs) {
    return new SoftNicConfig(
        threads, maxMessageBytes, rnrTimer, maxQueuePairs, doorbells, flushesOverwrite, faults);
  }

  public SoftNicConfig withDoorbells(DoorbellRule doorbells) {
    return new SoftNicConfig(
        threads, maxMessageBytes, rnrTimer, maxQueuePairs, doorbells, flushesOverwrite, faults);
  }

  public SoftNicConfig withFlushesOverwrite(boolean flushesOverwrite) {
    return new SoftNicConfig(
        threads, maxMessageBytes, rnrTimer, maxQueuePairs, doorbells, flushesOverwrite, faults);
  }

  public SoftNicConfig withFaults(FaultInjection faults) {
    return new SoftNicConfig(
        threads, maxMessageBytes, rnrTimer, maxQueuePairs, doorbells, flushesOverwrite, faults);
  }

  static void timer(String name, Duration duration) {
    Objects.requireNonNull(duration, name);
    if (duration.isNegative() || duration.isZero() || duration.compareTo(LONGEST_TIMER) > 0) {
      throw new IllegalArgumentException(name + " must be positive, at most 1 h: " + duration);
    }
  }

  private static void range(String name, long value, long low, long high) {
    if (value < low || value > high) {
      throw new IllegalArgumentException(name + " must be " + low + ".." + high + ": " + value);
    }
  }
}
