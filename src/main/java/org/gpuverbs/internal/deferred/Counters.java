// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** What the queue counts. Written by the lock's holder, read by anybody. */
public final class Counters {
  /** Powers of two of nanoseconds. */
  public static final int BUCKETS = 64;

  static final int ADMITTED = 0;
  static final int INLINE = 1;
  static final int RELEASED = 2;
  static final int DELIVERED = 3;
  static final int FAILED = 4;
  static final int CANCELLED = 5;
  static final int NANOS = 6;
  static final int MOST_NANOS = 7;
  static final int WAITING = 8;
  private static final int COUNTERS = 9;

  private final AtomicLongArray values = new AtomicLongArray(COUNTERS + BUCKETS);
  private final LongAdder refused = new LongAdder();

  Counters() {}

  void add(int counter, long value) {
    values.setOpaque(counter, values.getPlain(counter) + value);
  }

  void refuse() {
    refused.increment();
  }

  void deferral(long nanos) {
    add(NANOS, nanos);
    if (nanos > values.getPlain(MOST_NANOS)) {
      values.setOpaque(MOST_NANOS, nanos);
    }
    add(COUNTERS + bucket(nanos), 1);
  }

  /** The bucket of a duration: 0 for 0, else 1 + log2. */
  static int bucket(long nanos) {
    return nanos <= 0 ? 0 : Math.min(BUCKETS - 1, Long.SIZE - Long.numberOfLeadingZeros(nanos));
  }

  private long read(int counter) {
    return values.getOpaque(counter);
  }

  /** Sends taken. */
  public long accepted() {
    return read(ADMITTED) + read(INLINE);
  }

  /** Sends released within their call. */
  public long inline() {
    return read(INLINE);
  }

  /** Sends released, inline ones too. */
  public long released() {
    return read(RELEASED);
  }

  /** Sends delivered. */
  public long delivered() {
    return read(DELIVERED);
  }

  /** Sends that failed, before or after their release. */
  public long failed() {
    return read(FAILED);
  }

  /** Sends cancelled. */
  public long cancelled() {
    return read(CANCELLED);
  }

  /** Sends refused for lack of room. */
  public long refused() {
    return refused.sum();
  }

  /** Sends that the owner knows of and that are not released, failed or cancelled. */
  public long waiting() {
    return read(WAITING);
  }

  /** Nanoseconds from call to release of deferred sends, all together. */
  public long deferralNanos() {
    return read(NANOS);
  }

  /** The longest of them. */
  public long longestDeferralNanos() {
    return read(MOST_NANOS);
  }

  /** How many deferrals took less than 2<sup>i</sup> ns and at least half of that. */
  public long[] deferrals() {
    long[] counts = new long[BUCKETS];
    for (int i = 0; i < BUCKETS; i++) {
      counts[i] = read(COUNTERS + i);
    }
    return counts;
  }
}
