// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.concurrent.TimeUnit;
import org.gpuverbs.GpuVerbs;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to ask what is available: the floor under every other benchmark here. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class AvailabilityBenchmark {
  /** Asks for the library's version. */
  @Benchmark
  public String version() {
    return GpuVerbs.version();
  }
}
