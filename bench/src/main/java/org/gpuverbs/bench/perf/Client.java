// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.Gpu;
import org.gpuverbs.GpuStream;
import org.gpuverbs.Initiator;
import org.gpuverbs.Path;
import org.jspecify.annotations.Nullable;

/** The side that submits and measures. One thread. */
final class Client {
  static final int SEED = 7;

  private final PerfOptions options;
  private final double warmUp;
  private final Bar bar;
  private final Consumer<Row> report;
  private final List<Row> rows = new ArrayList<>();
  private Histogram histogram;
  private Path path = Path.SOFT;

  Client(PerfOptions options, double warmUp, Bar bar, Consumer<Row> report) {
    this.options = options;
    this.warmUp = warmUp;
    this.bar = bar;
    this.report = report;
  }

  List<Row> rows() {
    return rows;
  }

  /** Of the last size, in nanoseconds of whole round trips; null for bandwidth. */
  Histogram histogram() {
    return histogram;
  }

  Path path() {
    return path;
  }

  void run(Channel channel, NicChoice choice) {
    Plan plan = options.plan();
    byte[] answer = channel.exchange(plan.toBytes());
    if (answer.length != 1 || answer[0] != Plan.VERSION) {
      throw new PerfException("the other side is not perf of this version: run the same on both");
    }
    String problem = "";
    Side made = null;
    Gpu gpu = null;
    try {
      gpu = options.gpu() < 0 ? null : Gpu.open(options.gpu());
      made = new Side(plan, options.policy(), choice, gpu);
    } catch (RuntimeException | OutOfMemoryError e) {
      problem = Words.of(e);
    }
    try (Gpu closedLast = gpu;
        Side side = made;
        Initiator initiator = problem.isEmpty() ? initiator(gpu) : CpuLanes.caller()) {
      Words.agree(channel, problem);
      side.connect(channel);
      path = side.path();
      for (int i = 0; i < plan.sizes().size(); i++) {
        row(channel, side, initiator, i);
      }
    } finally {
      bar.clear();
    }
  }

  private Initiator initiator(@Nullable Gpu gpu) {
    if (gpu != null) {
      return GpuStream.open(gpu);
    }
    return options.lanes() == 0 ? CpuLanes.caller() : CpuLanes.start(options.lanes());
  }

  private void row(Channel channel, Side side, Initiator initiator, int index) {
    int size = options.sizes().get(index);
    side.prepare(size, SEED);
    Load load =
        Load.of(
            side,
            options,
            initiator,
            size,
            part ->
                bar.at(
                    (index + part) / options.sizes().size(),
                    options.test().text() + " " + size + " B"));
    if (load instanceof LatencyLoad latency) {
      latency.prepare();
      histogram = latency.histogram();
    }
    Words.agree(channel, "");
    Row row = null;
    String said = "";
    try {
      if (warmUp > 0) {
        load.warmUp(index == 0 ? warmUp : warmUp / 10);
      }
      boolean checked = options.validate() || options.test().atomic();
      row = load.run(checked ? "yes" : "-");
      List<String> counts = new ArrayList<>();
      for (int i = 0; i < side.queuePairs.size(); i++) {
        counts.add(Long.toString(load.sent(i)));
      }
      said = String.join(",", counts);
    } catch (RuntimeException e) {
      Words.say(channel, "failed: " + Words.of(e).replace(',', ';') + ",");
      throw e;
    }
    String theirs = Words.say(channel, said);
    if (!theirs.isEmpty()) {
      throw new PerfException("the other side: " + theirs);
    }
    Words.agree(channel, verify(side, size));
    rows.add(row);
    bar.clear();
    report.accept(row);
  }

  /** What came back here. Empty if it is right or not to be compared. */
  private String verify(Side side, int size) {
    boolean comesBack = options.test().read() || options.test().pingPong();
    if (!options.validate() || !comesBack) {
      return "";
    }
    for (int i = 0; i < side.queuePairs.size(); i++) {
      var arrived = options.test().read() ? side.outSlot(i, size) : side.inSlot(i, size);
      long at =
          Pattern.mismatch(arrived, Server.SEED + i, options.test() == PerfTest.WRITE_LAT ? 1 : 0);
      if (at >= 0) {
        return "queue pair " + i + ": byte " + at + " of " + size + " came back wrong";
      }
    }
    return "";
  }
}
