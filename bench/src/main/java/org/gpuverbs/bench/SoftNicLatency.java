// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.concurrent.TimeUnit;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
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
 * From submit to completion, one request at a time, between two threads of one process: the calling
 * one polls, the NIC's moves the bytes.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@State(Scope.Thread)
public class SoftNicLatency {
  /** The operation. */
  @Param({"WRITE", "READ", "FETCH_ADD"})
  public String operation;

  /** Bytes; atomics move 8 whatever this says. */
  @Param({"8", "4096"})
  public int size;

  private SoftPair pair;
  private CpuLanes caller;
  private Batch batch;

  /** Makes the queue. */
  @Setup
  public void open() {
    pair = new SoftPair(SubmitPolicy.EXCLUSIVE, 1, size);
    caller = CpuLanes.caller();
    batch = pair.batch(0, operation, 1);
  }

  /** One request, there and done. */
  @Benchmark
  public void complete() {
    SoftPair.complete(pair.queuePair(0), SoftPair.submit(caller, batch));
  }

  /** Nothing may be lost. */
  @TearDown(Level.Iteration)
  public void settle() {
    pair.settle();
  }

  /** Frees all. */
  @TearDown
  public void close() {
    caller.close();
    pair.close();
  }
}
