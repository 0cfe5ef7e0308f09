// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.DeviceEvents;

/**
 * Work that a device does in order, beside its callers: a {@link HostStream} of tasks, a CUDA
 * stream, or {@linkplain #of(QueuePair) what lanes have submitted to a queue pair}. {@link
 * DeviceCompletions} and {@link DeferredSender} wait for it without blocking anybody.
 *
 * <p>Any thread. While two threads mark the same stream at once, one waits for the other's mark, as
 * it would in the driver.
 */
public abstract class DeviceStream {
  DeviceStream() {}

  /**
   * The requests submitted to a queue pair so far, as work to wait for: an RDMA read whose result
   * is to be sent on, say.
   *
   * @param queuePair a queue pair that the CPU submits to
   * @return a stream whose work fails if the queue pair does, is reset or closed
   * @throws IllegalArgumentException if kernels of a GPU submit to it: wait for their stream
   */
  public static DeviceStream of(QueuePair queuePair) {
    if (queuePair.gpuQueue() != null) {
      throw new IllegalArgumentException(
          queuePair + " is one of a GPU: wait for the stream whose kernels submit to it");
    }
    return new QueuePairStream(queuePair);
  }

  /**
   * A CUDA stream, of whichever library.
   *
   * @param gpu the GPU whose context it belongs to
   * @param stream a CUstream, which must stay while it is waited for; 0 is the default stream
   * @return a stream whose work fails if the context does, or once the GPU is closed
   * @throws IllegalStateException if the GPU is closed
   */
  public static DeviceStream of(Gpu gpu, long stream) {
    gpu.enter();
    gpu.exit();
    return new CudaStream(gpu, stream);
  }

  /**
   * The stream of a GPU initiator.
   *
   * @param initiator the initiator
   * @return its stream, as {@link #of(Gpu, long)}
   * @throws IllegalStateException if the GPU is closed
   */
  public static DeviceStream of(GpuStream initiator) {
    return of(initiator.gpu(), initiator.handle());
  }

  abstract DeviceEvents events();
}
