// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams of the CPU. */
@Timeout(60)
class HostStreamTest {
  @Test
  void tasksRunInTheirOrder() throws InterruptedException {
    try (HostStream stream = HostStream.create("0")) {
      List<Integer> ran = Collections.synchronizedList(new ArrayList<>());
      for (int i = 0; i < 1000; i++) {
        int task = i;
        stream.enqueue(() -> ran.add(task));
      }
      assertTrue(stream.await(Pair.TIMEOUT));
      assertEquals(IntStream.range(0, 1000).boxed().toList(), ran);
    }
  }

  @Test
  void waitingEndsAtItsTimeout() throws InterruptedException {
    CountDownLatch leave = new CountDownLatch(1);
    try (HostStream stream = HostStream.create("0")) {
      stream.enqueue(() -> awaitLatch(leave));
      assertFalse(stream.await(Duration.ofMillis(5)));
      leave.countDown();
      assertTrue(stream.await(Pair.TIMEOUT));
    }
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertTrue(latch.await(20, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aDelayTakesItsTime() throws InterruptedException {
    try (HostStream stream = HostStream.create("0")) {
      long began = System.nanoTime();
      stream.delay(Duration.ofMillis(5));
      stream.delay(Duration.ofMillis(5));
      assertTrue(stream.await(Pair.TIMEOUT));
      assertTrue(System.nanoTime() - began >= 10_000_000);
    }
  }

  @Test
  void afterATaskHasThrownEverythingBehindItFails() throws InterruptedException {
    try (HostStream stream = HostStream.create("broken device");
        DeviceCompletions completions = DeviceCompletions.create(Runnable::run)) {
      CountDownLatch leave = new CountDownLatch(1);
      stream.enqueue(() -> awaitLatch(leave));
      CompletionStage<Void> before = completions.after(stream);
      stream.enqueue(
          () -> {
            throw new IllegalArgumentException("a bad task");
          });
      CompletionStage<Void> behind = completions.after(stream);
      leave.countDown();
      Await.until(
          () -> {
            completions.doWork();
            return completions.pending() == 0;
          });
      assertFalse(before.toCompletableFuture().isCompletedExceptionally());
      RdmaException e = Failures.of(behind);
      assertTrue(e.getMessage().contains("broken device"), e::toString);
      assertTrue(e.getMessage().contains("a bad task"), e::toString);
      assertThrows(RdmaException.class, () -> stream.await(Pair.TIMEOUT));
    }
  }

  @Test
  void closingDropsWhatHasNotBegun() {
    CountDownLatch leave = new CountDownLatch(1);
    List<String> ran = Collections.synchronizedList(new ArrayList<>());
    HostStream stream = HostStream.create("0");
    stream.enqueue(() -> awaitLatch(leave));
    stream.enqueue(() -> ran.add("second"));
    Thread closer = Thread.ofPlatform().start(stream::close);
    Await.until(
        () -> {
          try {
            stream.enqueue(() -> {});
            return false;
          } catch (IllegalStateException e) {
            return true;
          }
        });
    leave.countDown();
    Await.until(() -> !closer.isAlive());
    assertEquals(List.of(), ran);
  }

  @Test
  void aQueuePairsWorkIsAStreamToo() throws InterruptedException {
    try (Pair pair = new Pair();
        DeviceCompletions completions = DeviceCompletions.create(Runnable::run);
        Batch waits = Batch.of(pair.qp, pair.send(8))) {
      assertTrue(Failures.done(completions.after(DeviceStream.of(pair.qp))));
      pair.caller.submit(waits);
      CompletionStage<Void> stage = completions.after(DeviceStream.of(pair.qp));
      completions.doWork();
      assertFalse(Failures.done(stage));
      pair.postReceives(1);
      Await.until(
          () -> {
            completions.doWork();
            return Failures.done(stage);
          });
      pair.caller.submit(waits);
      CompletionStage<Void> lost = completions.after(DeviceStream.of(pair.qp));
      pair.qp.close();
      completions.doWork();
      assertEquals(Status.DEVICE_ERROR, Failures.of(lost).code());
    }
  }
}
