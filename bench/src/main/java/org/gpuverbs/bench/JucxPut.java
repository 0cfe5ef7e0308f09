// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.concurrent.TimeUnit;
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

/** JUCX's puts over shared memory; {@link PeerPut} are ours of the same sizes, in the same run. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@State(Scope.Thread)
public class JucxPut {
  /** Bytes a put. */
  @Param({"8", "64", "4096", "65536", "1048576"})
  public int size;

  private Jucx jucx;

  /** Connects. */
  @Setup
  public void open() {
    jucx = new Jucx(size);
  }

  /** One put, and the wait for it. */
  @Benchmark
  public void latency() {
    jucx.put();
    jucx.flush();
  }

  /** {@value PeerPut#BATCH} puts, and the wait for them. */
  @Benchmark
  public void rate() {
    for (int i = 0; i < PeerPut.BATCH; i++) {
      jucx.put();
    }
    jucx.flush();
  }

  /** Disconnects. */
  @TearDown
  public void close() {
    jucx.close();
  }
}
