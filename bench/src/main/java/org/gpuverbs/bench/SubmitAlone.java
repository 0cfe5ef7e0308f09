// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.concurrent.TimeUnit;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.QueuePairCounters;
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
 * The calling thread submits, nobody else does: the bare cost of each hand-over and fence mode. On
 * x86-64 both fence modes need the same instructions, so they differ on a GPU only.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@State(Scope.Thread)
public class SubmitAlone {
  /** Hand-over. */
  @Param({"CLASSIC", "TURN", "TURN_LOAD_STORE", "BITMAP", "EXCLUSIVE"})
  public String policy;

  /** Fence mode. */
  @Param({"SYSTEM", "DEVICE"})
  public String fence;

  /** Requests a batch. */
  @Param({"1", "16"})
  public int batch;

  private QuietQueue queue;
  private CpuLanes initiator;
  private Batch requests;
  private QueuePairCounters before;

  /** Makes the queue. */
  @Setup
  public void open() {
    queue = new QuietQueue(Policies.of(policy, fence, 1));
    initiator = CpuLanes.caller();
    requests = queue.batch(batch);
  }

  /** Notes the counters. */
  @Setup(Level.Iteration)
  public void start() {
    before = queue.queuePair().counters();
  }

  /** One batch. */
  @Benchmark
  public long submit() {
    return queue.submit(initiator, requests);
  }

  /** Nothing may be lost. */
  @TearDown(Level.Iteration)
  public void settle(Counters counters) {
    queue.settle();
    counters.count(before, queue.queuePair());
  }

  /** Frees the queue. */
  @TearDown
  public void close() {
    initiator.close();
    queue.close();
  }
}
