// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.gpuverbs.Batch;
import org.gpuverbs.Initiator;

/** One message at a time. One thread. */
final class LatencyLoad implements Load {
  private static final double[] PERCENTILES = {
    0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100
  };

  private final PerfOptions options;
  private final int size;
  private final Ticker ticker;
  private final Mover mover;
  private final Histogram histogram = new Histogram(60_000_000_000L, 3);
  private long sent;

  LatencyLoad(Side side, PerfOptions options, Initiator initiator, int size, Ticker ticker) {
    this.options = options;
    this.size = size;
    this.ticker = ticker;
    Batch one = side.batch(0, size, 1);
    mover =
        switch (options.test()) {
          case WRITE_LAT -> new Movers.Writes(side, initiator, one, size);
          case SEND_LAT -> new Movers.Sends(side, initiator, one, size);
          default -> new Movers.Completions(side, initiator, one);
        };
  }

  /** A message there, and back if the test is a ping-pong. */
  interface Mover {
    /** Called before the peer may send anything. */
    default void prepare() {}

    /** The {@code number}th message, from 1. */
    void roundTrip(long number);
  }

  @Override
  public long sent(int queuePair) {
    return sent;
  }

  @Override
  public void warmUp(double seconds) {
    drive(Long.MAX_VALUE, (long) (seconds * 1e9));
  }

  @Override
  public Row run(String verified) {
    histogram.reset();
    if (options.seconds() > 0) {
      drive(Long.MAX_VALUE, (long) (options.seconds() * 1e9));
    } else {
      drive(options.iterations(), Long.MAX_VALUE);
    }
    double unit = options.test().pingPong() ? 2000 : 1000;
    List<Row.Point> cdf = new ArrayList<>();
    for (double percentile : PERCENTILES) {
      cdf.add(new Row.Point(percentile, histogram.getValueAtPercentile(percentile) / unit));
    }
    return new Row.Latency(
        size,
        histogram.getTotalCount(),
        histogram.getMinValue() / unit,
        histogram.getMaxValue() / unit,
        histogram.getValueAtPercentile(50) / unit,
        histogram.getMean() / unit,
        histogram.getStdDeviation() / unit,
        histogram.getValueAtPercentile(99) / unit,
        histogram.getValueAtPercentile(99.9) / unit,
        verified,
        cdf);
  }

  /** Called before the peer may send anything. */
  void prepare() {
    mover.prepare();
  }

  /** In nanoseconds, whole round trips: as recorded. */
  Histogram histogram() {
    return histogram;
  }

  private void drive(long messages, long nanos) {
    long start = System.nanoTime();
    long before = start;
    for (long i = 0; i < messages && before - start < nanos; i++) {
      mover.roundTrip(++sent);
      long now = System.nanoTime();
      histogram.recordValue(Math.min(now - before, histogram.getHighestTrackableValue()));
      if ((i & 63) == 0) {
        ticker.at(
            messages == Long.MAX_VALUE ? (double) (now - start) / nanos : (double) i / messages);
      }
      before = System.nanoTime();
    }
  }
}
