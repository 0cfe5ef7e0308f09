// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.net.SocketTimeoutException;
import java.time.Duration;

/** A moment by which a whole operation must be over, however many waits it is made of. */
record Deadline(long nanoTime, Duration total) {
  static Deadline after(Duration total) {
    return new Deadline(System.nanoTime() + total.toNanos(), total);
  }

  /** This deadline, or one `limit` from now if that is sooner. */
  Deadline orAfter(Duration limit) {
    return remainingNanos() <= limit.toNanos() ? this : after(limit);
  }

  long remainingNanos() {
    return nanoTime - System.nanoTime();
  }

  boolean expired() {
    return remainingNanos() <= 0;
  }

  /** For socket calls, where 0 would mean for ever. */
  int remainingMillis() throws SocketTimeoutException {
    long nanos = remainingNanos();
    if (nanos <= 0) {
      throw new SocketTimeoutException("deadline passed");
    }
    return (int) Math.min(Integer.MAX_VALUE, nanos / 1_000_000 + 1);
  }

  String text() {
    long millis = total.toMillis();
    return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
  }
}
