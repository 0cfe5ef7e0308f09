// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import examples.OverDecomposition;
import java.time.Duration;
import java.util.function.LongConsumer;
import org.gpuverbs.internal.deferred.DeviceEvents;

/**
 * The over-decomposed schedulers with a real GPU: each task has a CUDA stream, whose kernels take 1
 * ms. Arguments: schedulers, tasks of each, milliseconds of each way.
 */
final class GpuOverDecomposition {
  private static final String SOURCE =
      """
      extern "C" __global__ void work(long long* out, long long value, unsigned long long ns) {
        unsigned long long now, end;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end));
        end += ns;
        do {
          __nanosleep(1000);
          asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
        } while (now < end);
        *reinterpret_cast<volatile long long*>(out) = value;
      }
      """;

  private GpuOverDecomposition() {}

  public static void main(String[] args) throws Exception {
    try (Gpu gpu = Gpu.open(0)) {
      OverDecomposition.compare(
          Integer.parseInt(args[0]),
          Integer.parseInt(args[1]),
          Duration.ofMillis(Long.parseLong(args[2])),
          nic -> new Stream(gpu, nic));
    }
  }

  private static final class Stream implements OverDecomposition.Device {
    private final Gpu gpu;
    private final GpuStream initiator;
    private final DeviceStream stream;
    private final Kernel kernel;
    private final DeviceBuffer buffer;
    private final MemoryRegion result;

    Stream(Gpu gpu, Nic nic) {
      this.gpu = gpu;
      initiator = GpuStream.open(gpu);
      stream = DeviceStream.of(initiator);
      kernel = gpu.compile(SOURCE, "work");
      buffer = gpu.allocate(64, MemoryKind.PINNED);
      result = nic.register(buffer);
    }

    @Override
    public MemoryRegion result() {
      return result;
    }

    @Override
    public DeviceStream stream() {
      return stream;
    }

    @Override
    public QueuePairOptions options() {
      return QueuePairOptions.builder().gpu(gpu).build();
    }

    @Override
    public void work(long value) {
      kernel.launch(initiator.handle(), 1, 1, buffer, value, 1_000_000L);
    }

    @Override
    public void await(Duration patience) {
      // As cudaStreamSynchronize does by default.
      long deadline = System.nanoTime() + patience.toNanos();
      while (stream.events().idle() == DeviceEvents.NOT_YET) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("the device is stuck");
        }
        Thread.onSpinWait();
      }
    }

    @Override
    public void submitBehind(Batch batch, LongConsumer ticket) {
      ticket.accept(initiator.submit(batch));
    }

    @Override
    public void close() {
      initiator.close();
      result.close();
      buffer.close();
    }
  }
}
