// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.Warmup;

/** What the thread that works pays for each send that is complete. */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@OperationsPerInvocation(DeferredRig.BURST)
public class DeferredHarvest extends DeferredRig {
  /** A burst that the NIC has done and nobody has looked at. */
  @Setup(Level.Invocation)
  public void begin() {
    burst();
    queue.finish();
  }

  /** One pass. */
  @Benchmark
  public int harvest() {
    int work = sender.doWork();
    if (work < BURST) {
      throw new IllegalStateException(work + " of " + BURST + " sends were complete");
    }
    return work;
  }
}
