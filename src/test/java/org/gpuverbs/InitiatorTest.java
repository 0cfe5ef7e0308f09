// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

class InitiatorTest {
  private static final int DEPTH = 64;

  private static QueuePairOptions.Builder small() {
    return QueuePairOptions.builder().depth(DEPTH);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 257})
  void aWrongNumberOfLanesIsRefused(int lanes) {
    assertThrows(IllegalArgumentException.class, () -> CpuLanes.start(lanes));
  }

  @Test
  void aFullQueueRefusesTheWholeBatchAndChangesNothing() throws InterruptedException {
    try (Pair pair = new Pair(small());
        Batch most =
            Batch.of(pair.qp, Batch.Signal.LAST, Collections.nCopies(DEPTH - 1, pair.send(8)));
        Batch two = Batch.of(pair.qp, pair.send(8), pair.send(8))) {
      assertEquals(DEPTH - 2, pair.caller.submit(most));
      assertEquals(Status.FULL, pair.caller.submit(two));
      assertEquals(DEPTH - 1, pair.qp.counters().submitted());
      assertTrue(pair.qp.counters().full() > 0);
      pair.postReceives(DEPTH + 1);
      long ticket = pair.caller.submit(two, Pair.TIMEOUT);
      assertEquals(DEPTH, ticket);
      pair.qp.await(ticket, Pair.TIMEOUT);
    }
  }

  @Test
  void lanesToSayFull() {
    try (Pair pair = new Pair(small());
        CpuLanes lanes = CpuLanes.start(2);
        Batch all =
            Batch.of(pair.qp, Batch.Signal.LAST, Collections.nCopies(DEPTH, pair.send(8)))) {
      assertEquals(DEPTH - 1, lanes.submit(all));
      assertEquals(Status.FULL, lanes.submit(all));
    }
  }

  @Test
  void theWaitingFormGivesUpInTime() throws InterruptedException {
    try (Pair pair = new Pair(small());
        Batch all =
            Batch.of(pair.qp, Batch.Signal.LAST, Collections.nCopies(DEPTH, pair.send(8)))) {
      pair.caller.submit(all);
      assertEquals(Status.FULL, pair.caller.submit(all, Duration.ofMillis(5)));
      assertEquals(QueuePairState.READY, pair.qp.state());
    }
  }

  @Test
  void theWaitingFormAndAwaitAreInterruptible() throws Exception {
    try (Pair pair = new Pair(small());
        Batch all =
            Batch.of(pair.qp, Batch.Signal.LAST, Collections.nCopies(DEPTH, pair.send(8)))) {
      long ticket = pair.caller.submit(all);
      FutureTask<InterruptedException> submit =
          new FutureTask<>(
              () ->
                  assertThrows(
                      InterruptedException.class, () -> pair.caller.submit(all, Pair.TIMEOUT)));
      Thread.ofVirtual().start(submit).interrupt();
      submit.get(20, TimeUnit.SECONDS);
      FutureTask<InterruptedException> await =
          new FutureTask<>(
              () ->
                  assertThrows(
                      InterruptedException.class, () -> pair.qp.await(ticket, Pair.TIMEOUT)));
      Thread.ofVirtual().start(await).interrupt();
      await.get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void awaitGivesUpInTimeAndTheRequestGoesOn() throws InterruptedException {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, pair.send(8))) {
      long ticket = pair.caller.submit(batch);
      RdmaException e =
          assertThrows(RdmaException.class, () -> pair.qp.await(ticket, Duration.ofMillis(5)));
      assertEquals(Status.TIMEOUT, e.code());
      assertEquals(Status.PENDING, pair.qp.poll(ticket));
      pair.postReceives(1);
      pair.qp.await(ticket, Pair.TIMEOUT);
    }
  }

  @Test
  void pollAndAwaitMeanTheQueuePairLastSubmittedTo() throws InterruptedException {
    try (Pair pair = new Pair();
        CpuLanes fresh = CpuLanes.caller();
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop())) {
      assertThrows(IllegalStateException.class, () -> fresh.poll(0));
      long ticket = fresh.submit(batch);
      fresh.await(ticket, Pair.TIMEOUT);
      assertEquals(Status.DONE, fresh.poll(ticket));
      assertEquals(Status.PENDING, fresh.poll(ticket + 1));
    }
  }

  @Test
  void anExclusiveQueuePairBelongsToItsFirstInitiator() throws InterruptedException {
    try (Pair pair = new Pair(QueuePairOptions.builder().policy(SubmitPolicy.EXCLUSIVE));
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop());
        CpuLanes other = CpuLanes.caller()) {
      pair.run(new WorkRequest.Nop());
      IllegalStateException e =
          assertThrows(IllegalStateException.class, () -> other.submit(batch));
      assertTrue(e.getMessage().contains("belongs to " + pair.caller), e.getMessage());
      assertTrue(e.getMessage().contains(other.toString()), e.getMessage());
      pair.caller.close();
      pair.qp.await(other.submit(batch), Pair.TIMEOUT);
    }
  }

  @Test
  void anExclusiveQueuePairTakesOneLaneThreadButNotTwo() throws InterruptedException {
    try (Pair pair = new Pair(QueuePairOptions.builder().policy(SubmitPolicy.EXCLUSIVE));
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop());
        CpuLanes one = CpuLanes.start(1);
        CpuLanes two = CpuLanes.start(2)) {
      assertThrows(IllegalStateException.class, () -> two.submit(batch));
      pair.qp.await(one.submit(batch), Pair.TIMEOUT);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = HandOver.class,
      mode = Mode.EXCLUDE,
      names = {"EXCLUSIVE", "CLASSIC_WITHOUT_LOCK", "TURN_RELAXED"})
  void initiatorsShareAQueuePair(HandOver handOver) throws Exception {
    int threads = 4;
    int rounds = 500;
    SubmitPolicy policy = SubmitPolicy.TURN.handOver(handOver).doorbellEvery(16);
    try (Pair pair = new Pair(QueuePairOptions.builder().policy(policy))) {
      FutureTask<?>[] tasks = new FutureTask<?>[threads];
      for (int t = 0; t < threads; t++) {
        WorkRequest add =
            new WorkRequest.FetchAdd(pair.local.local(8L * t, 8), pair.remote.remote(0, 8), 1);
        boolean lanes = t % 2 == 0;
        tasks[t] =
            new FutureTask<>(
                () -> {
                  try (CpuLanes mine = lanes ? CpuLanes.start(2) : CpuLanes.caller();
                      Batch batch = Batch.of(pair.qp, add, add, add)) {
                    long ticket = 0;
                    for (int i = 0; i < rounds; i++) {
                      ticket = mine.submit(batch, Pair.TIMEOUT);
                      assertTrue(ticket >= 0, Status.describe(ticket));
                    }
                    pair.qp.await(ticket, Pair.TIMEOUT);
                  }
                  return null;
                });
        Thread.ofPlatform().start(tasks[t]);
      }
      for (FutureTask<?> task : tasks) {
        task.get(60, TimeUnit.SECONDS);
      }
      assertEquals(
          3L * threads * rounds,
          pair.remote.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0));
    }
  }

  @Test
  void anInitiatorServesOneThreadAtATime() throws Exception {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop())) {
      FutureTask<IllegalStateException> foreign =
          new FutureTask<>(
              () -> assertThrows(IllegalStateException.class, () -> pair.caller.submit(batch)));
      batch.enter();
      try {
        Thread.ofPlatform().name("the intruder").start(foreign);
        String message = foreign.get(20, TimeUnit.SECONDS).getMessage();
        assertTrue(message.contains("the intruder"), message);
        assertTrue(message.contains(Thread.currentThread().getName()), message);
      } finally {
        batch.exit();
      }
      pair.qp.await(pair.caller.submit(batch), Pair.TIMEOUT);
    }
  }

  @Test
  void countersTellDoorbellsAndBlocks() throws InterruptedException {
    try (Pair pair = new Pair()) {
      pair.run(new WorkRequest.Nop(), new WorkRequest.Nop());
      QueuePairCounters counters = pair.qp.counters();
      assertEquals(2, counters.submitted());
      assertEquals(2, counters.completed());
      assertTrue(counters.doorbells() > 0);
    }
  }
}
