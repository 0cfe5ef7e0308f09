// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.DeviceEvents;
import org.gpuverbs.internal.deferred.PooledEvents;
import org.gpuverbs.internal.shim.CudaCalls;

/** A CUDA stream as work to wait for. */
final class CudaStream extends DeviceStream {
  private static final int EBUSY = 16;
  private static final int EINVAL = 22;

  private final Gpu gpu;
  private final long stream;
  private final Events events;

  CudaStream(Gpu gpu, long stream) {
    this.gpu = gpu;
    this.stream = stream;
    this.events = new Events();
  }

  @Override
  DeviceEvents events() {
    return events;
  }

  boolean is(Gpu other, long handle) {
    return gpu == other && stream == handle;
  }

  /** Such as {@code stream 0x7f10 of GPU 0 (NVIDIA H200)}. */
  @Override
  public String toString() {
    return "stream 0x" + Long.toHexString(stream) + " of " + gpu;
  }

  private final class Events extends PooledEvents {
    Events() {
      super(gpu.events(), stream);
    }

    /** Not while it is capturing: asking then would end the capture. */
    @Override
    public int idle() {
      if (!gpu.tryEnter()) {
        return -GpuEvents.ENODEV;
      }
      try {
        int state = CudaCalls.streamState(gpu.handle(), stream);
        if (state == -EBUSY) {
          throw new IllegalStateException(
              CudaStream.this
                  + " is capturing a graph, of which an event would become a part: end the capture,"
                  + " or use another stream");
        }
        if (state == -EINVAL) {
          throw new IllegalStateException(
              CudaStream.this + " belongs to another context: use Gpu.of with that one");
        }
        return state < 0 ? state : CudaCalls.streamQuery(gpu.handle(), stream);
      } finally {
        gpu.exit();
      }
    }

    @Override
    public String describe(int error) {
      if (!gpu.tryEnter()) {
        return CudaStream.this + " can't be waited for: its GPU is closed";
      }
      try {
        RdmaException sickness = CudaCalls.sickness(gpu.handle());
        return "the work on "
            + CudaStream.this
            + " failed"
            + (sickness == null ? " (errno " + -error + ")" : ": " + sickness.hint());
      } finally {
        gpu.exit();
      }
    }
  }
}
