// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.util.List;

/** One line of results. */
sealed interface Row {
  /** Bytes a message. */
  int bytes();

  /**
   * Throughput.
   *
   * @param bytes a message
   * @param iterations messages of all queue pairs
   * @param peakMiBps best window of a millisecond or more, MiB/s
   * @param averageMiBps from the first submit to the last completion, MiB/s
   * @param millionPerSecond messages
   * @param doorbellsPerMessage that submitters rang
   * @param verified yes, or not asked for
   */
  record Bandwidth(
      int bytes,
      long iterations,
      double peakMiBps,
      double averageMiBps,
      double millionPerSecond,
      double doorbellsPerMessage,
      String verified)
      implements Row {}

  /**
   * Latency, in microseconds; half of the round trip for WRITE and SEND.
   *
   * @param bytes a message
   * @param iterations messages measured
   * @param min shortest
   * @param max longest
   * @param typical median
   * @param average mean
   * @param deviation standard deviation
   * @param p99 99th percentile
   * @param p999 99.9th percentile
   * @param verified yes, or not asked for
   * @param cdf points of the distribution
   */
  record Latency(
      int bytes,
      long iterations,
      double min,
      double max,
      double typical,
      double average,
      double deviation,
      double p99,
      double p999,
      String verified,
      List<Point> cdf)
      implements Row {}

  /**
   * Part of a distribution.
   *
   * @param percentile 0..100
   * @param us microseconds that so many stay within
   */
  record Point(double percentile, double us) {}
}
