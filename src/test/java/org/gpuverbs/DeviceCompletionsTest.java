// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DeviceCompletionsTest {
  private final ManualStream stream = new ManualStream("0");
  private final DeviceCompletions completions = DeviceCompletions.create(Runnable::run);

  @AfterEach
  void close() {
    completions.close(Duration.ZERO);
    assertEquals(0, stream.pool.inUse());
  }

  @Test
  void aStageCompletesWhenTheWorkBeforeTheCallIsOver() {
    CompletionStage<Void> stage = completions.after(stream.work());
    stream.work();
    assertEquals(0, completions.doWork());
    assertFalse(Failures.done(stage));
    stream.complete();
    assertEquals(1, completions.doWork());
    assertTrue(Failures.done(stage));
  }

  @Test
  void aStageOfAnIdleStreamIsCompleteAtOnceWithoutAnEvent() {
    assertTrue(Failures.done(completions.after(stream)));
    assertEquals(0, stream.records);
    assertEquals(0, completions.pending());
  }

  @Test
  void aValueIsAskedForWhenTheWorkIsOver() throws Exception {
    List<String> asked = new ArrayList<>();
    CompletionStage<Integer> stage =
        completions.after(
            stream.work(),
            () -> {
              asked.add("now");
              return 42;
            });
    completions.doWork();
    assertEquals(List.of(), asked);
    stream.complete();
    completions.doWork();
    assertEquals(42, stage.toCompletableFuture().get(20, TimeUnit.SECONDS));
  }

  @Test
  void whatTheSupplierThrowsFailsTheStage() {
    CompletionStage<Integer> stage =
        completions.after(
            stream.work(),
            () -> {
              throw new IllegalArgumentException("no value");
            });
    stream.complete();
    completions.doWork();
    ExecutionException e =
        assertThrows(ExecutionException.class, () -> stage.toCompletableFuture().get());
    assertEquals("no value", e.getCause().getMessage());
  }

  @Test
  void aDeviceErrorFailsTheStageByNameAndIsNotAskedAboutAgain() {
    CompletionStage<Void> stage = completions.after(stream.work());
    stream.fail();
    completions.doWork();
    RdmaException e = Failures.of(stage);
    assertEquals(Status.DEVICE_ERROR, e.code());
    assertTrue(e.getMessage().contains("manual stream 0"), e::toString);
    long queries = stream.queries;
    completions.doWork();
    assertEquals(queries, stream.queries);
    assertEquals(Status.DEVICE_ERROR, Failures.of(completions.after(stream)).code());
  }

  @Test
  void aStreamThatIsCapturingIsRefusedByName() {
    stream.work().capturing(true);
    IllegalStateException e =
        assertThrows(IllegalStateException.class, () -> completions.after(stream));
    assertTrue(e.getMessage().contains("manual stream 0 is capturing"), e::toString);
    assertEquals(0, completions.pending());
  }

  @Test
  void theCallerCantCompleteAStage() {
    CompletionStage<Void> stage = completions.after(stream.work());
    stage.toCompletableFuture().complete(null);
    assertFalse(Failures.done(stage));
  }

  @Test
  void aProgressCompletesStagesOnTheExecutorGiven() throws Exception {
    ExecutorService executor =
        Executors.newSingleThreadExecutor(task -> new Thread(task, "completer"));
    try (DeviceCompletions mine = DeviceCompletions.create(executor);
        HostStream device = HostStream.create("device");
        Progress progress = Progress.create()) {
      progress.add(mine);
      assertThrows(IllegalStateException.class, mine::doWork);
      assertThrows(IllegalStateException.class, () -> progress.add(mine));
      device.delay(Duration.ofMillis(20));
      CompletionStage<String> stage = mine.after(device, () -> Thread.currentThread().getName());
      progress.start(IdleStrategy.backoff());
      assertEquals("completer", stage.toCompletableFuture().get(20, TimeUnit.SECONDS));
    } finally {
      executor.shutdown();
    }
  }

  @Test
  void closingFailsTheStagesThatAreLeft() {
    CompletionStage<Void> stage = completions.after(stream.work());
    completions.close(Duration.ofMillis(10));
    completions.close();
    assertEquals(Status.CLOSED, Failures.of(stage).code());
    assertThrows(IllegalStateException.class, () -> completions.after(stream));
    assertThrows(IllegalStateException.class, completions::doWork);
  }

  @Test
  void closingFinishesTheStagesThatCanBeDone() {
    CompletionStage<Void> stage = completions.after(stream.work());
    stream.complete();
    completions.close();
    assertTrue(Failures.done(stage));
    assertFalse(stage.toCompletableFuture().isCompletedExceptionally());
  }

  @Test
  void manyStagesOnOneStreamCostOneQueryWhileNothingIsOver() {
    for (int i = 0; i < 10_000; i++) {
      completions.after(stream.work());
    }
    completions.doWork();
    long queries = stream.queries;
    completions.doWork();
    assertEquals(queries + 1, stream.queries);
  }
}
