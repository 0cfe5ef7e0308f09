// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A kernel that traps while sends wait for it: every pending send of its context must fail by name,
 * in both forms, others go on, and closing must end. For a process of its own: see {@link
 * DeferredFaultTest}.
 */
final class DeferredFault {
  static final String RIGHT = "every send of the context failed by name, no other";

  private DeferredFault() {}

  public static void main(String[] args) throws Exception {
    Gpu gpu = Gpu.open(0);
    Nic nic = Nic.open();
    HeldStream held = new HeldStream(gpu);
    HeldStream second = new HeldStream(gpu);
    HeldStream submitting = new HeldStream(gpu);
    DeviceBuffer out = gpu.allocate(64, MemoryKind.PINNED);
    MemoryRegion memory = nic.allocate(64, Access.values());
    QueuePair qp = nic.queuePair(QueuePairOptions.defaults());
    Pair.connect(qp, nic.queuePair(QueuePairOptions.defaults()));
    QueuePair gpuQp = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build());
    Pair.connect(gpuQp, nic.queuePair(QueuePairOptions.defaults()));
    WorkRequest write = new WorkRequest.Write(memory.local(0, 8), memory.remote(8, 8));
    Batch batch = Batch.of(qp, write);
    Batch gpuBatch = Batch.of(gpuQp, write);
    DeferredSender sender = DeferredSender.builder().executor(Runnable::run).build();
    DeferredSender inStream =
        DeferredSender.builder().initiator(submitting.stream).executor(Runnable::run).build();
    ManualStream host = new ManualStream("of another device");

    List<DeferredSend> lost = new ArrayList<>();
    held.work(out);
    second.work(out);
    submitting.work(out);
    for (int i = 0; i < 100; i++) {
      DeferredChannel channel = sender.channel(i, Destination.of(qp));
      DeviceStream stream = i % 2 == 0 ? held.work : second.work;
      lost.add(channel.sendAsync(batch, SendOrder.ORDERED, stream));
    }
    DeferredSend other =
        sender.channel(1000, Destination.of(qp)).sendAsync(batch, SendOrder.ORDERED, host.work());
    lost.add(
        inStream
            .channel(1, Destination.of(gpuQp))
            .sendAsync(gpuBatch, SendOrder.ORDERED, submitting.work));
    HeldStream trapping = new HeldStream(gpu);
    trapping.fail(out);
    for (DeferredSend send : lost) {
      Await.until(
          () -> {
            sender.doWork();
            inStream.doWork();
            return Failures.done(send.delivered());
          });
      RdmaException e = Failures.of(send.delivered());
      if (e.code() != Status.DEVICE_ERROR || !String.valueOf(e.getCause()).contains("CUDA_ERROR")) {
        throw new AssertionError("not by name", e);
      }
    }
    host.complete();
    Await.until(
        () -> {
          sender.doWork();
          return other.state() == SendState.DELIVERED;
        });
    if (sender.channel(2000, Destination.of(qp)).send(batch, SendOrder.ORDERED, held.work)
        != Status.DEVICE_ERROR) {
      throw new AssertionError("a dead stream was taken");
    }

    long began = System.nanoTime();
    sender.close(Duration.ofSeconds(1));
    inStream.close(Duration.ofSeconds(1));
    nic.close();
    gpu.close(Duration.ofSeconds(2));
    long seconds = (System.nanoTime() - began) / 1_000_000_000;
    if (seconds > 30) {
      throw new AssertionError("closing took " + seconds + " s");
    }
    System.out.println(RIGHT);
    System.exit(0);
  }
}
