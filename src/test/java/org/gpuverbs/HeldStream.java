// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** A CUDA stream whose kernels end when a test says so. */
final class HeldStream implements AutoCloseable {
  /** Ends by itself after ten seconds. */
  private static final String SOURCE =
      """
      __device__ unsigned long long now() {
        unsigned long long ns;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
        return ns;
      }
      extern "C" __global__ void hold(volatile long long* let_go, long long* out, long long value) {
        const unsigned long long end = now() + 10000000000ull;
        while (*let_go < value && now() < end) {
        }
        *out = value;
      }
      extern "C" __global__ void fail(long long* out, long long value) {
        if (value != 0) __trap();
        *out = value;
      }
      """;

  private static final Driver DRIVER = new Driver();

  final GpuStream stream;
  final DeviceStream work;
  private final @Nullable Kernel hold;
  private final @Nullable Kernel fail;
  private final DeviceBuffer letGo;
  private final ArrayDeque<DeviceBuffer> targets = new ArrayDeque<>();
  private long begun;
  private long ended;

  /** With the driver without a GPU its streams are held; else kernels are compiled. */
  HeldStream(Gpu gpu) {
    if (!DRIVER.isFake()) {
      String missing = GpuTest.Condition.missing(true);
      assumeTrue(missing == null, missing);
    }
    stream = GpuStream.open(gpu);
    work = DeviceStream.of(stream);
    hold = DRIVER.isFake() ? null : gpu.compile(SOURCE, "hold");
    fail = DRIVER.isFake() ? null : gpu.compile(SOURCE, "fail");
    letGo = gpu.allocate(8, MemoryKind.PINNED);
    JAVA_LONG.varHandle().setVolatile(letGo.segment(), 0L, 0L);
  }

  /** A kernel that writes its number to {@code out} once it may end. */
  HeldStream work(DeviceBuffer out) {
    begun++;
    if (hold == null) {
      targets.add(out);
      DRIVER.call("fake_hold", stream.handle());
    } else {
      hold.launch(stream.handle(), 1, 1, letGo, out, begun);
    }
    return this;
  }

  /** The oldest kernel that was held may end. */
  void complete() {
    ended++;
    if (hold == null) {
      targets.remove().segment().set(JAVA_LONG, 0, ended);
      DRIVER.call("fake_release", stream.handle());
    } else {
      JAVA_LONG.varHandle().setVolatile(letGo.segment(), 0L, ended);
    }
  }

  /** A kernel that spoils the context. */
  void fail(DeviceBuffer out) {
    if (fail == null) {
      DRIVER.call("fake_fail");
    } else {
      fail.launch(stream.handle(), 1, 1, out, 1L);
    }
  }

  @Override
  public void close() {
    while (!targets.isEmpty()) {
      complete();
    }
    JAVA_LONG.varHandle().setVolatile(letGo.segment(), 0L, Long.MAX_VALUE);
    stream.close();
    letGo.close();
  }
}
