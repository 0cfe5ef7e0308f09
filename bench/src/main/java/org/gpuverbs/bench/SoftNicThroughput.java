// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.concurrent.TimeUnit;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.QueuePairCounters;
import org.gpuverbs.SubmitPolicy;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * RDMA WRITEs from submitters to bytes moved, everything in: access checks, credit, completions,
 * statuses. The rates that the project's goals name. Batches of {@value #BATCH}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@State(Scope.Thread)
public class SoftNicThroughput {
  static final int BATCH = 64;

  /** What is measured. */
  public enum Case {
    /** The caller's thread, a doorbell every 16 requests. */
    EXCLUSIVE_16(SubmitPolicy.EXCLUSIVE.doorbellEvery(16), 0, 1, 64),
    /** One lane thread. */
    CLASSIC_1_LANE(SubmitPolicy.CLASSIC, 1, 1, 64),
    /** One lane thread. */
    TURN_1_LANE(SubmitPolicy.TURN, 1, 1, 64),
    /** Eight lane threads, which share one queue. */
    CLASSIC_8_LANES(SubmitPolicy.CLASSIC, 8, 1, 64),
    /** Eight lane threads, which share one queue. */
    TURN_8_LANES(SubmitPolicy.TURN, 8, 1, 64),
    /** A hundred queue pairs, served in turn by the caller's thread. */
    EXCLUSIVE_16_100_QPS(SubmitPolicy.EXCLUSIVE.doorbellEvery(16), 0, 100, 64),
    /** As EXCLUSIVE_16, with 64 KiB a request. */
    EXCLUSIVE_16_64K(SubmitPolicy.EXCLUSIVE.doorbellEvery(16), 0, 1, 65536);

    final SubmitPolicy policy;
    final int lanes;
    final int queuePairs;
    final int size;

    Case(SubmitPolicy policy, int lanes, int queuePairs, int size) {
      this.policy = policy;
      this.lanes = lanes;
      this.queuePairs = queuePairs;
      this.size = size;
    }
  }

  /** What is measured. */
  @Param public Case what;

  private SoftPair pair;
  private CpuLanes initiator;
  private Batch[] batches;
  private QueuePairCounters before;
  private int next;

  /** Makes the queues. */
  @Setup
  public void open() {
    pair = new SoftPair(what.policy, what.queuePairs, what.size);
    initiator = what.lanes == 0 ? CpuLanes.caller() : CpuLanes.start(what.lanes);
    batches = new Batch[what.queuePairs];
    for (int i = 0; i < batches.length; i++) {
      batches[i] = pair.batch(i, "WRITE", BATCH);
    }
  }

  /** Notes the counters. */
  @Setup(Level.Iteration)
  public void start() {
    before = pair.queuePair(0).counters();
  }

  /** One batch on the next queue pair. */
  @Benchmark
  public long write() {
    Batch batch = batches[next];
    next = next + 1 == batches.length ? 0 : next + 1;
    return SoftPair.submit(initiator, batch);
  }

  /** Nothing may be lost. The counters are the first queue pair's. */
  @TearDown(Level.Iteration)
  public void settle(Counters counters) {
    pair.settle();
    counters.count(before, pair.queuePair(0));
  }

  /** Frees all. */
  @TearDown
  public void close() {
    initiator.close();
    pair.close();
  }
}
