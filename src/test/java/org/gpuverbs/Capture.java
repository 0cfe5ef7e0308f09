// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Stream capture, as a program beside the library does it. On the thread that made it. */
final class Capture implements AutoCloseable {
  /** CU_STREAM_CAPTURE_MODE_GLOBAL: the strictest, and CUDA's default. */
  private static final int GLOBAL = 0;

  private final Driver driver = new Driver();
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment out = arena.allocate(ADDRESS);
  private final long stream;

  Capture(Gpu gpu, long stream) {
    this.stream = stream;
    driver.require("cuCtxPushCurrent_v2", gpu.context());
    driver.require("cuStreamBeginCapture_v2", stream, GLOBAL);
  }

  /** Whether the capture was not spoilt. */
  boolean end() {
    int result = driver.call("cuStreamEndCapture", stream, out);
    long graph = out.get(JAVA_LONG, 0);
    if (result == 0 && graph != 0) {
      driver.require("cuGraphDestroy", graph);
    }
    return result == 0;
  }

  @Override
  public void close() {
    driver.call("cuCtxPopCurrent_v2", out);
    arena.close();
  }
}
