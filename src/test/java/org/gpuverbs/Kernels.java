// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The kernels of kernels.cu on one GPU, and the words in which they report. */
final class Kernels implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(40);
  private static final int WORDS = 1 << 17;

  final Gpu gpu;
  final DeviceBuffer status;

  /** The default stream. */
  final GpuStream zero;

  Kernels() {
    this(Gpu.open(0));
  }

  Kernels(Gpu gpu) {
    this.gpu = gpu;
    status = gpu.allocate(8L * WORDS, MemoryKind.PINNED);
    zero = GpuStream.on(gpu, 0);
  }

  static String source() {
    try (InputStream in = Kernels.class.getResourceAsStream("/org/gpuverbs/kernels.cu")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Launches on the default stream. */
  void launch(String name, int grid, int block, Object... args) {
    status.segment().fill((byte) -1);
    gpu.compile(source(), name).launch(0, grid, block, args);
  }

  /** Launches and waits. */
  void run(String name, int grid, int block, Object... args) throws InterruptedException {
    launch(name, grid, block, args);
    zero.synchronize(TIMEOUT);
  }

  long status(int index) {
    return (long) JAVA_LONG.varHandle().getVolatile(status.segment(), 8L * index);
  }

  @Override
  public void close() {
    zero.close();
    gpu.close();
  }
}
