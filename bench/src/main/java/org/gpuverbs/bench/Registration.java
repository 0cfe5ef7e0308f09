// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.gpuverbs.Access;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
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

/**
 * Memory made known to the software NIC, and forgotten: of the caller's, and allocated for it. A
 * real NIC pins pages, so there the cost grows with the size.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@State(Scope.Thread)
public class Registration {
  /** Bytes. */
  @Param({"4096", "1048576", "67108864"})
  public long size;

  private Arena arena;
  private MemorySegment segment;
  private Nic nic;

  /** Opens the NIC. */
  @Setup
  public void open() {
    Quiet.logs();
    arena = Arena.ofShared();
    segment = arena.allocate(size, 4096);
    nic = Nic.open();
  }

  /** Memory that is there already. */
  @Benchmark
  public int register() {
    try (MemoryRegion region = nic.register(segment, Access.REMOTE_WRITE)) {
      return region.lkey();
    }
  }

  /** Memory allocated, zeroed and registered. */
  @Benchmark
  public int allocate() {
    try (MemoryRegion region = nic.allocate(size, Access.REMOTE_WRITE)) {
      return region.lkey();
    }
  }

  /** Ends all. */
  @TearDown
  public void close() {
    nic.close();
    arena.close();
  }
}
