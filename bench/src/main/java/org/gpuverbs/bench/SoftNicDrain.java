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
 * How fast the software NIC works off one queue, by operation: batches of {@value #BATCH}, one
 * doorbell each, from the calling thread. With bytes to move, by size too.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class SoftNicDrain {
  static final int BATCH = 16;

  /** Queue, initiator and batch. */
  @State(Scope.Thread)
  public abstract static class Rig {
    SoftPair pair;
    CpuLanes caller;
    Batch batch;

    void open(String operation, int size) {
      pair = new SoftPair(SubmitPolicy.EXCLUSIVE.doorbellEvery(BATCH), 1, size);
      caller = CpuLanes.caller();
      batch = pair.batch(0, operation, BATCH);
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

  /** Operations whose size is fixed. */
  public static class Fixed extends Rig {
    /** The operation. */
    @Param({"NOP", "WRITE_INLINE", "FETCH_ADD", "COMPARE_SWAP"})
    public String operation;

    /** Makes the queue. */
    @Setup
    public void open() {
      open(operation, operation.equals("NOP") ? 0 : 8);
    }
  }

  /** Operations that move bytes. */
  public static class Sized extends Rig {
    /** The operation. */
    @Param({"WRITE", "READ"})
    public String operation;

    /** Bytes a request. */
    @Param({"64", "4096", "65536", "1048576"})
    public int size;

    /** Makes the queue. */
    @Setup
    public void open() {
      open(operation, size);
    }
  }

  /** SEND, which takes a receive for each. */
  public static class Sends extends Rig {
    /** Bytes a request. */
    @Param({"64", "4096", "65536"})
    public int size;

    /** Makes the queue. */
    @Setup
    public void open() {
      open("SEND", size);
    }
  }

  /** NOP, inline write and atomics: 8 bytes or none. */
  @Benchmark
  public long fixed(Fixed rig) {
    return SoftPair.submit(rig.caller, rig.batch);
  }

  /** RDMA WRITE and READ. */
  @Benchmark
  public long sized(Sized rig) {
    return SoftPair.submit(rig.caller, rig.batch);
  }

  /** SEND, with the receives' posting and completions. */
  @Benchmark
  public long sends(Sends rig) {
    rig.pair.receive(BATCH);
    return SoftPair.submit(rig.caller, rig.batch);
  }
}
