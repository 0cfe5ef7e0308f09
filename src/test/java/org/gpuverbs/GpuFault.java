// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.function.Supplier;

/**
 * A kernel that writes to address 0: afterwards nothing works in the process any more. Every call
 * must say so, and closing must end. For a process of its own: see {@link GpuFaultTest}.
 */
final class GpuFault {
  static final String RIGHT = "every call named the fault";

  private GpuFault() {}

  public static void main(String[] args) {
    Gpu gpu = Gpu.open(0);
    Nic nic = Nic.open();
    GpuStream stream = GpuStream.open(gpu);
    QueuePair qp = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build());
    Pair.connect(qp, nic.queuePair(QueuePairOptions.defaults()));
    Batch batch = Batch.of(qp, new WorkRequest.Nop());
    gpu.compile(Kernels.source(), "fault").launch(stream.handle(), 1, 1, 0L);
    Await.until(() -> gpu.sickness() != null);
    requireNamed(() -> stream.submit(batch));
    requireNamed(() -> gpu.allocate(64, MemoryKind.DEVICE));
    requireNamed(
        () -> {
          throw gpu.sickness();
        });
    long start = System.nanoTime();
    batch.close();
    qp.close();
    stream.close();
    nic.close();
    gpu.close();
    long seconds = (System.nanoTime() - start) / 1_000_000_000;
    if (seconds > 20) {
      throw new AssertionError("closing took " + seconds + " s");
    }
    System.out.println(RIGHT);
  }

  private static void requireNamed(Supplier<?> call) {
    try {
      throw new AssertionError("no error, but " + call.get());
    } catch (RdmaException e) {
      if (!e.getMessage().contains("CUDA_ERROR_")) {
        throw new AssertionError("the fault is not named", e);
      }
    }
  }
}
