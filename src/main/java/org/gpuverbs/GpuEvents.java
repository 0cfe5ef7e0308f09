// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.EventPool;
import org.gpuverbs.internal.shim.CudaCalls;

/** A GPU's CUDA events. Any thread; once the GPU is closed they all have failed. */
final class GpuEvents implements EventPool.Device {
  /** errno of Linux: the GPU is closed. */
  static final int ENODEV = 19;

  private final Gpu gpu;

  GpuEvents(Gpu gpu) {
    this.gpu = gpu;
  }

  @Override
  public long create() {
    if (!gpu.tryEnter()) {
      return -ENODEV;
    }
    try {
      return CudaCalls.eventCreate(gpu.handle());
    } catch (RdmaException e) {
      return -e.errno();
    } finally {
      gpu.exit();
    }
  }

  @Override
  public int record(long event, long stream) {
    if (!gpu.tryEnter()) {
      return -ENODEV;
    }
    try {
      return CudaCalls.eventMark(gpu.handle(), event, stream);
    } finally {
      gpu.exit();
    }
  }

  @Override
  public int query(long event) {
    if (!gpu.tryEnter()) {
      return -ENODEV;
    }
    try {
      return CudaCalls.eventQuery(gpu.handle(), event);
    } finally {
      gpu.exit();
    }
  }

  /** By the GPU's close, behind its gate. */
  @Override
  public void destroy(long event) {
    try {
      CudaCalls.eventDestroy(gpu.handle(), event);
    } catch (RdmaException | IllegalArgumentException e) {
      Log.LOGGER.log(System.Logger.Level.DEBUG, "while closing " + gpu, e);
    }
  }
}
