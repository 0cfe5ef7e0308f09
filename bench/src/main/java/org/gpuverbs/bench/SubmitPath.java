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
 * Lane threads submit one queue's batches, with a NIC that is never late: what the hand-over costs
 * as lanes are added. A lane takes up to 32 requests of a batch with one reservation, so batches of
 * up to 32 are one lane's work each, and 64 is shared by two.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@State(Scope.Thread)
public class SubmitPath {
  /** EXCLUSIVE has one submitter by contract: see {@link SubmitAlone}. */
  @Param({"CLASSIC", "TURN", "TURN_LOAD_STORE", "BITMAP"})
  public String policy;

  /** Lane threads. */
  @Param({"1", "2", "4", "8"})
  public int lanes;

  /** Requests a batch. */
  @Param({"1", "4", "16", "64"})
  public int batch;

  /** Fence mode. */
  @Param("SYSTEM")
  public String fence;

  private QuietQueue queue;
  private CpuLanes initiator;
  private Batch requests;
  private QueuePairCounters before;

  /** Makes the queue. */
  @Setup
  public void open() {
    queue = new QuietQueue(Policies.of(policy, fence, 1));
    initiator = CpuLanes.start(lanes);
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

  /** Ends the lanes. */
  @TearDown
  public void close() {
    initiator.close();
    queue.close();
  }
}
