// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.consumer.RecordingStream;
import org.gpuverbs.internal.queue.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Uses objects from several threads while others close them. Any answer is right that the API
 * allows; wrong are other exceptions, hangs, a crash of the JVM, and memory left allocated. Runs
 * for {@code -Dgpuverbs.fuzz.seconds} (3).
 */
class CloseFuzzTest {
  private static final int SECONDS = Integer.getInteger("gpuverbs.fuzz.seconds", 3);
  private static final int USERS = 3;
  private static final Duration MOMENT = Duration.ofMillis(1);

  /** What one round plays with. */
  private static final class Toys {
    final Nic nic = Nic.open();
    final Arena arena = Arena.ofShared();
    final MemorySegment foreign = arena.allocate(4096, 8);
    final MemoryRegion local = nic.allocate(4096, Pair.ALL);
    final MemoryRegion remote = nic.allocate(4096, Pair.ALL);
    final MemoryRegion registered = nic.register(foreign, Pair.ALL);
    final CompletionQueue received = nic.completionQueue(128);
    final CompletionQueue sent = nic.completionQueue(64);
    final QueuePair qp;
    final QueuePair peer;
    final CpuLanes lanes = CpuLanes.start(2);
    final CpuLanes caller = CpuLanes.caller();
    final Progress progress = Progress.create();
    final List<Batch> batches = new ArrayList<>();
    final List<AutoCloseable> closing;

    Toys(Random random) {
      QueuePairOptions.Builder options =
          QueuePairOptions.builder()
              .depth(64)
              .policy(SubmitPolicy.CLASSIC.handOver(HandOver.values()[random.nextInt(4)]));
      if (random.nextBoolean()) {
        options.sendQueue(sent);
      }
      qp = nic.queuePair(options.build());
      peer =
          nic.queuePair(QueuePairOptions.builder().receiveDepth(64).receiveQueue(received).build());
      Pair.connect(qp, peer);
      WorkRequest add = new WorkRequest.FetchAdd(local.local(0, 8), remote.remote(0, 8), 1);
      WorkRequest write = new WorkRequest.Write(local.local(0, 64), remote.remote());
      WorkRequest other = new WorkRequest.Write(registered.local(0, 64), registered.remote());
      batches.add(Batch.of(qp, add, add, write));
      batches.add(Batch.of(qp, write, new WorkRequest.Nop(), other));
      batches.add(Batch.of(qp, Batch.Signal.EVERY, List.of(add, other)));
      batches.add(Batch.of(qp, new WorkRequest.Send(local.local(0, 8))));
      closing =
          new ArrayList<>(
              List.of(
                  qp,
                  peer,
                  local,
                  remote,
                  registered,
                  received,
                  sent,
                  lanes,
                  caller,
                  progress,
                  nic,
                  arena));
      closing.addAll(batches);
    }

    void use(Random random) throws Exception {
      Batch batch = batches.get(random.nextInt(batches.size()));
      switch (random.nextInt(17)) {
        case 0, 1, 2 -> qp.poll(lanes.submit(batch));
        case 3, 4, 5 -> caller.submit(batch);
        case 6 -> qp.await(caller.submit(batch, MOMENT), MOMENT);
        case 7 -> peer.postReceive(1, remote.local(0, 64));
        case 8 -> received.poll(new Completions(4));
        case 9 -> sent.poll(new Completions(4));
        case 10 -> batch.length(2, 0, random.nextInt(64)).localAddress(2, 0, local.address());
        case 11 -> SignalWait.untilAtLeast(remote, 0, random.nextInt(100), MOMENT);
        case 12 -> local.segment().set(ValueLayout.JAVA_LONG, 0, qp.counters().completed());
        case 13 -> lanes.submitAsync(batch, progress, Runnable::run);
        case 14 -> progress.doWork();
        case 15 -> {
          qp.reset();
          peer.reset();
          Pair.connect(qp, peer);
        }
        default -> {
          try (MemoryRegion region = nic.allocate(64);
              Batch made = Batch.of(qp, new WorkRequest.Write(region.local(), remote.remote()))) {
            qp.state();
            caller.submit(made);
          }
        }
      }
    }
  }

  private static Void useUntil(Toys toys, long seed, long deadline) throws Exception {
    Random random = new Random(seed);
    while (!Deadline.passed(deadline)) {
      try {
        toys.use(random);
      } catch (IllegalStateException
          | IllegalArgumentException
          | IndexOutOfBoundsException
          | RdmaException e) {
        // Closed, busy, moved, failed: whatever the API may answer.
      }
    }
    return null;
  }

  private static Void closeAll(Toys toys, Random random) throws Exception {
    List<AutoCloseable> order = new ArrayList<>(toys.closing);
    Collections.shuffle(order, random);
    for (AutoCloseable toy : order) {
      long next = Deadline.after(Duration.ofNanos(random.nextInt(1_000_000)));
      Await.until(() -> Deadline.passed(next));
      try {
        toy.close();
      } catch (IllegalStateException e) {
        // A CQ or batch in use.
      }
    }
    return null;
  }

  private static void round(long seed) throws Exception {
    Random random = new Random(seed);
    Toys toys = new Toys(random);
    List<FutureTask<Void>> tasks = new ArrayList<>();
    long end = Deadline.after(Duration.ofMillis(60));
    for (int i = 0; i < USERS; i++) {
      long userSeed = seed * 31 + i;
      tasks.add(new FutureTask<>(() -> useUntil(toys, userSeed, end)));
    }
    long closeAt = Deadline.after(Duration.ofMillis(random.nextInt(40)));
    for (int i = 0; i < 2; i++) {
      Random closer = new Random(seed * 37 + i);
      tasks.add(
          new FutureTask<>(
              () -> {
                Await.until(() -> Deadline.passed(closeAt));
                return closeAll(toys, closer);
              }));
    }
    tasks.forEach(task -> Thread.ofPlatform().daemon().start(task));
    for (FutureTask<Void> task : tasks) {
      task.get(60, TimeUnit.SECONDS);
    }
    toys.progress.close();
    toys.lanes.close();
    toys.nic.close();
  }

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void closingWhileOthersUseIsSafe() throws Exception {
    AtomicInteger quarantined = new AtomicInteger();
    long seed = Long.getLong("gpuverbs.fuzz.seed", System.nanoTime());
    try (RecordingStream events = new RecordingStream()) {
      events.enable("org.gpuverbs.CloseQuarantined");
      events.onEvent("org.gpuverbs.CloseQuarantined", event -> quarantined.incrementAndGet());
      events.startAsync();
      long deadline = Deadline.after(Duration.ofSeconds(SECONDS));
      for (long round = seed; !Deadline.passed(deadline); round++) {
        try {
          round(round);
        } catch (Exception | Error e) {
          throw new AssertionError("-Dgpuverbs.fuzz.seed=" + round, e);
        }
      }
      events.stop();
    }
    assertEquals(0, quarantined.get(), "objects left allocated; -Dgpuverbs.fuzz.seed=" + seed);
  }
}
