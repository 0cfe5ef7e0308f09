// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import examples.OverDecomposition;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Schedulers with more tasks than threads, whose tasks alternate device work of 1 ms and sends: how
 * much gets sent, and how much of the schedulers' time is left for anything else. Both are in the
 * counters; the throughput is that of runs, and means nothing.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class OverDecomposed {
  private static final Duration WORK = Duration.ofMillis(1);

  /** What is varied. */
  @State(Scope.Benchmark)
  public static class Setting {
    /** How a result is sent. */
    @Param({"BLOCKING", "DEFERRED", "IN_STREAM"})
    public OverDecomposition.Way way;

    /** Scheduler threads. */
    @Param("1")
    public int schedulers;

    /** Tasks of each. */
    @Param({"1", "8", "32"})
    public int tasks;

    /** How long a run takes; an iteration has as many as fit. */
    @Param("1000")
    public int millis;
  }

  /** What came of it. JMH divides by the time that the run took, setting up included. */
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  @State(Scope.Thread)
  public static class Found {
    /** Of all schedulers. */
    public double sendsPerSecond;

    /** Share of the schedulers' time outside of calls that send, wait or poll. */
    public double availablePercent;

    /** Afresh. */
    @Setup(Level.Iteration)
    public void reset() {
      sendsPerSecond = 0;
      availablePercent = 0;
    }
  }

  /** One run. */
  @Benchmark
  public void run(Setting setting, Found found) throws Exception {
    Quiet.logs();
    long began = System.nanoTime();
    OverDecomposition.Result result =
        OverDecomposition.run(
            setting.way,
            setting.schedulers,
            setting.tasks,
            Duration.ofMillis(setting.millis),
            OverDecomposition.timer(WORK));
    double seconds = (System.nanoTime() - began) / 1e9;
    found.sendsPerSecond += result.sendsPerSecond() * seconds;
    found.availablePercent += 100 * result.availability() * seconds;
  }
}
