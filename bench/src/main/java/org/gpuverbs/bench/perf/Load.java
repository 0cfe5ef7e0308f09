// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import org.gpuverbs.Initiator;

/** What the client puts on the queue pairs. One thread. */
interface Load {
  /** How far a run may go without any progress. */
  long PATIENCE_NANOS = 60_000_000_000L;

  /**
   * Runs without keeping results, so that compiled code is measured.
   *
   * @param seconds how long
   */
  void warmUp(double seconds);

  /** Runs one row. */
  Row run(String verified);

  /** Messages sent so far on a queue pair, warm-up included. */
  long sent(int queuePair);

  static Load of(Side side, PerfOptions options, Initiator initiator, int size, Ticker ticker) {
    return options.test().latency()
        ? new LatencyLoad(side, options, initiator, size, ticker)
        : new BandwidthLoad(side, options, initiator, size, ticker);
  }

  /** Told how much of a row is done, 0..1. */
  interface Ticker {
    void at(double part);
  }
}
