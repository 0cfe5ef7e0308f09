// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private static RdmaException failure(CompletableFuture<Long> stage) {
    ExecutionException e =
        assertThrows(ExecutionException.class, () -> stage.get(20, TimeUnit.SECONDS));
    return (RdmaException) e.getCause();
  }

  @Test
  void aStageCompletesOnTheExecutorWithTheTicket() throws Exception {
    ExecutorService executor =
        Executors.newSingleThreadExecutor(task -> new Thread(task, "completer"));
    try (Pair pair = new Pair();
        Progress progress = Progress.create();
        Batch batch = Batch.of(pair.qp, pair.write(0, 8))) {
      progress.start(IdleStrategy.backoff());
      CompletableFuture<String> thread = new CompletableFuture<>();
      long ticket =
          pair.caller
              .submitAsync(batch, progress, executor)
              .whenComplete((t, e) -> thread.complete(Thread.currentThread().getName()))
              .toCompletableFuture()
              .get(20, TimeUnit.SECONDS);
      assertEquals(0, ticket);
      String name = thread.get(20, TimeUnit.SECONDS);
      assertTrue(name.equals("completer") || name.equals(Thread.currentThread().getName()), name);
    } finally {
      executor.shutdown();
    }
  }

  @Test
  void aFailedRequestFailsItsStageWithTheSyndrome() {
    try (Pair pair = new Pair();
        Progress progress = Progress.create();
        Batch batch =
            Batch.of(pair.qp, new WorkRequest.WriteInline(1L, new RemoteMemory(8, 8, 0)))) {
      CompletableFuture<Long> stage =
          pair.caller.submitAsync(batch, progress, Runnable::run).toCompletableFuture();
      Await.until(() -> progress.doWork() > 0);
      assertEquals(Syndrome.REMOTE_ACCESS, failure(stage).syndrome());
    }
  }

  @Test
  void aBatchThatWasNotTakenFailsItsStageAtOnce() {
    try (Pair pair = new Pair(QueuePairOptions.builder().depth(64));
        Progress progress = Progress.create();
        Batch all = Batch.of(pair.qp, Batch.Signal.LAST, Collections.nCopies(64, pair.send(8)))) {
      pair.caller.submit(all);
      CompletableFuture<Long> stage =
          pair.caller.submitAsync(all, progress, Runnable::run).toCompletableFuture();
      assertEquals(Status.FULL, failure(stage).code());
    }
  }

  @Test
  void closingFailsTheStagesThatAreLeft() {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, pair.send(8))) {
      Progress progress = Progress.create();
      progress.start(IdleStrategy.yielding());
      CompletableFuture<Long> stage =
          pair.caller.submitAsync(batch, progress, Runnable::run).toCompletableFuture();
      progress.close(Duration.ofMillis(10));
      progress.close();
      assertEquals(Status.CLOSED, failure(stage).code());
      assertThrows(IllegalStateException.class, progress::doWork);
      CompletableFuture<Long> late =
          pair.caller.submitAsync(batch, progress, Runnable::run).toCompletableFuture();
      assertEquals(Status.CLOSED, failure(late).code());
    }
  }

  @Test
  void closingFinishesTheStagesThatCanBeDone() throws Exception {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, pair.write(0, 8))) {
      Progress progress = Progress.create();
      CompletableFuture<Long> stage =
          pair.caller.submitAsync(batch, progress, Runnable::run).toCompletableFuture();
      progress.close(Pair.TIMEOUT);
      assertEquals(0, stage.get(20, TimeUnit.SECONDS));
    }
  }

  @Test
  void closingTheQueuePairFailsItsStages() {
    try (Pair pair = new Pair();
        Progress progress = Progress.create();
        Batch batch = Batch.of(pair.qp, pair.send(8))) {
      CompletableFuture<Long> stage =
          pair.caller.submitAsync(batch, progress, Runnable::run).toCompletableFuture();
      pair.qp.close();
      assertEquals(1, progress.doWork());
      assertEquals(Status.CLOSED, failure(stage).code());
    }
  }

  @Test
  void aQueueInAProgressIsPolledByItAlone() throws InterruptedException {
    try (Pair pair = new Pair();
        Progress progress = Progress.create()) {
      AtomicLong received = new AtomicLong();
      progress.add(pair.received, completions -> received.addAndGet(completions.size()));
      assertThrows(IllegalStateException.class, () -> pair.received.poll(new Completions(1)));
      try (Progress second = Progress.create()) {
        assertThrows(IllegalStateException.class, () -> second.add(pair.received, c -> {}));
      }
      pair.postReceives(2);
      pair.run(pair.send(8), pair.send(8));
      Await.until(
          () -> {
            progress.doWork();
            return received.get() == 2;
          });
      progress.close();
      assertEquals(0, pair.received.poll(new Completions(1)));
    }
  }

  @Test
  void aThreadGoesOnAfterAHandlersException() throws InterruptedException {
    try (Pair pair = new Pair();
        Progress progress = Progress.create()) {
      AtomicLong calls = new AtomicLong();
      progress.add(
          pair.received,
          completions -> {
            if (calls.incrementAndGet() == 1) {
              throw new IllegalArgumentException("a handler that fails");
            }
          });
      progress.start(IdleStrategy.backoff());
      assertThrows(IllegalStateException.class, () -> progress.start(IdleStrategy.backoff()));
      pair.postReceives(2);
      pair.run(pair.send(8));
      Await.until(() -> calls.get() == 1);
      pair.run(pair.send(8));
      Await.until(() -> calls.get() == 2);
    }
  }
}
