// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.concurrent.TimeUnit;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.QueuePair;
import org.gpuverbs.SubmitPolicy;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** RDMA WRITEs through the software NIC, shaped as {@link JucxPut} shapes its puts. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@State(Scope.Thread)
public class PeerPut {
  static final int BATCH = 64;

  /** Bytes a put. */
  @Param({"8", "64", "4096", "65536", "1048576"})
  public int size;

  private SoftPair pair;
  private CpuLanes caller;
  private QueuePair queuePair;
  private Batch one;
  private Batch many;

  /** Connects. */
  @Setup
  public void open() {
    pair = new SoftPair(SubmitPolicy.EXCLUSIVE.doorbellEvery(16), 1, size);
    caller = CpuLanes.caller();
    queuePair = pair.queuePair(0);
    one = pair.batch(0, "WRITE", 1);
    many = pair.batch(0, "WRITE", BATCH);
  }

  /** One put, and the wait for it. */
  @Benchmark
  public void latency() {
    SoftPair.complete(queuePair, SoftPair.submit(caller, one));
  }

  /** {@value #BATCH} puts, and the wait for them. */
  @Benchmark
  public void rate() {
    SoftPair.complete(queuePair, SoftPair.submit(caller, many));
  }

  /** Disconnects. */
  @TearDown
  public void close() {
    pair.settle();
    caller.close();
    pair.close();
  }
}
