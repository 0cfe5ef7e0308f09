// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CompletionQueue;
import org.gpuverbs.Completions;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.WorkRequest;

/** All that a program does with path DIRECT, from opening the NIC to closing it. */
final class Life {
  static final Duration PATIENCE = Duration.ofSeconds(10);

  private Life() {}

  /** The stand-in's NIC. */
  static NicInfo info() {
    return Nic.list().stream()
        .filter(each -> each.name().equals("mlx5_0"))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no mlx5_0"));
  }

  static QueuePairOptions.Builder options() {
    return QueuePairOptions.builder().path(Path.DIRECT).depth(64);
  }

  static void connect(QueuePair a, QueuePair b) {
    QueuePairAddress address = a.address();
    a.connect(b.address());
    b.connect(address);
  }

  static void run(CpuLanes lanes, QueuePair qp, WorkRequest... requests)
      throws InterruptedException {
    try (Batch batch = Batch.of(qp, requests)) {
      qp.await(lanes.submit(batch, PATIENCE), PATIENCE);
    }
  }

  static void live() throws InterruptedException {
    try (Nic nic = Nic.open(info());
        MemoryRegion here = nic.allocate(4096, Access.values());
        MemoryRegion there = nic.allocate(4096, Access.values());
        CompletionQueue sent = nic.completionQueue(64);
        CompletionQueue received = nic.completionQueue(64);
        QueuePair a = nic.queuePair(options().sendQueue(sent).build());
        QueuePair b = nic.queuePair(options().receiveDepth(64).receiveQueue(received).build());
        CpuLanes lanes = CpuLanes.caller()) {
      for (int round = 1; round <= 2; round++) {
        connect(a, b);
        traffic(lanes, b, here, there, round);
        messages(lanes, a, b, sent, received, here, there, round);
        a.reset();
        b.reset();
      }
    }
  }

  /** One-sided, on the collapsed CQ: write, read and count. */
  private static void traffic(
      CpuLanes lanes, QueuePair qp, MemoryRegion here, MemoryRegion there, int round)
      throws InterruptedException {
    here.segment().set(JAVA_LONG, 0, 1000L + round);
    there.segment().set(JAVA_LONG, 64, 5);
    run(
        lanes,
        qp,
        new WorkRequest.Write(here.local(0, 8), there.remote(0, 8)),
        new WorkRequest.FetchAdd(here.local(64, 8), there.remote(64, 8), 3),
        new WorkRequest.Read(here.local(128, 8), there.remote(64, 8)));
    assertEquals(1000L + round, there.segment().get(JAVA_LONG, 0));
    assertEquals(5, here.segment().get(JAVA_LONG, 64));
    assertEquals(8, here.segment().get(JAVA_LONG, 128));
  }

  /** Two-sided, on full CQs. */
  private static void messages(
      CpuLanes lanes,
      QueuePair a,
      QueuePair b,
      CompletionQueue sent,
      CompletionQueue received,
      MemoryRegion here,
      MemoryRegion there,
      int round)
      throws InterruptedException {
    here.segment().set(JAVA_LONG, 256, 2000L + round);
    b.postReceive(7, there.local(512, 8));
    try (Batch batch = Batch.of(a, new WorkRequest.Send(here.local(256, 8)))) {
      lanes.submit(batch, PATIENCE);
    }
    Completions completions = new Completions(1);
    take(sent, completions);
    take(received, completions);
    assertEquals(7, completions.id(0));
    assertEquals(2000L + round, there.segment().get(JAVA_LONG, 512));
  }

  private static void take(CompletionQueue queue, Completions into) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (queue.poll(into) == 0) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("no completion within " + PATIENCE);
      }
      Thread.onSpinWait();
    }
    assertEquals(0, into.syndrome(0));
  }
}
