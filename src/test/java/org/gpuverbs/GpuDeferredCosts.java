// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.gpuverbs.internal.deferred.DeviceEvents;

/**
 * What CUDA's part of a deferred send costs from Java: lines of name, median and 90 % in ns. Each
 * sample is the mean of a burst.
 */
final class GpuDeferredCosts {
  private static final int ROUNDS = 400;
  private static final int BURST = 256;

  private GpuDeferredCosts() {}

  public static void main(String[] args) {
    try (Gpu gpu = Gpu.open(0);
        HeldStream held = new HeldStream(gpu);
        HeldStream idle = new HeldStream(gpu);
        Nic nic = Nic.open();
        DeviceBuffer out = gpu.allocate(64, MemoryKind.PINNED);
        DeferredSender sender = DeferredSender.builder().capacity(1 << 17).build()) {
      QueuePair qp = nic.queuePair(QueuePairOptions.builder().depth(16384).build());
      Pair.connect(qp, nic.queuePair(QueuePairOptions.defaults()));
      MemoryRegion memory = nic.allocate(64, Access.values());
      Batch batch = Batch.of(qp, new WorkRequest.Write(memory.local(0, 8), memory.remote(8, 8)));
      DeferredChannel channel = sender.channel(1, Destination.of(qp));
      DeviceEvents pending = held.work.events();
      DeviceEvents done = idle.work.events();
      held.work(out);
      long[] marks = new long[BURST];
      System.out.println("call,median_ns,p90_ns");
      report("stream_state_idle", () -> done.idle(), () -> {});
      report("stream_state_busy", () -> pending.idle(), () -> {});
      int[] at = {0};
      report(
          "record_busy",
          () -> marks[at[0]++] = pending.record(),
          () -> {
            for (int i = 0; i < at[0]; i++) {
              pending.release(marks[i]);
            }
            at[0] = 0;
          });
      long mark = pending.record();
      report("query_pending", () -> pending.query(mark), () -> {});
      pending.release(mark);
      long over = done.record();
      Await.until(() -> done.query(over) == DeviceEvents.DONE);
      report("query_done", () -> done.query(over), () -> {});
      done.release(over);
      drain(sender);
      report(
          "send_idle_stream",
          () -> channel.send(batch, SendOrder.ORDERED, idle.work),
          () -> drain(sender));
      report(
          "send_busy_stream",
          () -> channel.send(batch, SendOrder.ORDERED, held.work),
          () -> {
            held.complete();
            drain(sender);
            held.work(out);
          });
      poll(sender, channel, batch, held);
      nic.close();
    }
  }

  /** A pass over ever more pending sends of one stream. */
  private static void poll(
      DeferredSender sender, DeferredChannel channel, Batch batch, HeldStream held) {
    int sends = 0;
    for (int pending = 100; pending <= 100_000; pending *= 10) {
      long began = System.nanoTime();
      int fresh = pending - sends;
      for (; sends < pending; sends++) {
        if (channel.send(batch, SendOrder.ORDERED, held.work) < 0) {
          throw new AssertionError("refused");
        }
      }
      long each = (System.nanoTime() - began) / fresh;
      System.out.printf(Locale.ROOT, "send_up_to_%d_pending,%d,%n", pending, each);
      sender.doWork();
      report("pass_with_" + pending + "_pending", sender::doWork, () -> {});
    }
    long began = System.nanoTime();
    held.complete();
    drain(sender);
    System.out.printf(
        Locale.ROOT, "drain_each_of_%d,%d,%n", sends, (System.nanoTime() - began) / sends);
  }

  private static void drain(DeferredSender sender) {
    Await.until(
        () -> {
          sender.doWork();
          return sender.pending() == 0;
        });
  }

  private static void report(String name, LongSupplier call, Runnable after) {
    double[] samples = new double[ROUNDS];
    long sum = 0;
    for (int r = -ROUNDS / 2; r < ROUNDS; r++) {
      long began = System.nanoTime();
      for (int i = 0; i < BURST; i++) {
        sum += call.getAsLong();
      }
      double each = (System.nanoTime() - began) / (double) BURST;
      after.run();
      if (r >= 0) {
        samples[r] = each;
      }
    }
    Arrays.sort(samples);
    System.out.printf(
        Locale.ROOT,
        "%s,%.0f,%.0f%s%n",
        name,
        samples[ROUNDS / 2],
        samples[ROUNDS * 9 / 10],
        sum == Long.MIN_VALUE ? "!" : "");
  }
}
