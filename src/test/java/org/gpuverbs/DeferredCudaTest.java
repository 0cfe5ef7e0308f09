// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Deferred sends after kernels; without a GPU after work that a driver of the tests holds. */
@GpuTest
class DeferredCudaTest {
  private final Gpu gpu = Gpu.open(0);
  private final HeldStream held = new HeldStream(gpu);
  private final Nic nic = Nic.open();
  private final DeviceBuffer out = gpu.allocate(64, MemoryKind.PINNED);
  private final MemoryRegion source = nic.register(out, Access.LOCAL_WRITE);
  private final MemoryRegion target = nic.allocate(64, Access.values());
  private final QueuePair qp = nic.queuePair(QueuePairOptions.defaults());
  private final QueuePair peer = nic.queuePair(QueuePairOptions.defaults());
  private final DeferredSender sender = DeferredSender.builder().executor(Runnable::run).build();
  private final DeferredChannel channel = sender.channel(1, Destination.of(qp));
  private final Batch batch;

  DeferredCudaTest() {
    Pair.connect(qp, peer);
    out.segment().fill((byte) 0);
    batch = Batch.of(qp, new WorkRequest.Write(source.local(0, 8), target.remote(0, 8)));
  }

  @AfterEach
  void close() {
    held.close();
    sender.close(Duration.ofSeconds(1));
    nic.close();
    out.close();
    gpu.close();
  }

  private long arrived() {
    return target.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0);
  }

  private long await(long ticket) {
    Await.until(
        () -> {
          sender.doWork();
          return sender.poll(ticket) != Status.PENDING;
        });
    return sender.poll(ticket);
  }

  @Test
  void whatAKernelProducesIsSentOnceItIsOver() {
    held.work(out);
    long ticket = channel.send(batch, SendOrder.ORDERED, held.work);
    sender.doWork();
    assertEquals(SendState.WAITING, sender.state(ticket));
    assertEquals(0, arrived());
    held.complete();
    assertEquals(Status.DONE, await(ticket));
    assertEquals(1, arrived());
  }

  @Test
  void theStreamIsMarkedAtTheCall() {
    held.work(out);
    long ticket = channel.send(batch, SendOrder.ORDERED, held.work);
    held.work(out);
    held.complete();
    assertEquals(Status.DONE, await(ticket));
    held.complete();
  }

  @Test
  void anIdleStreamIsSentAfterWithinTheCall() throws InterruptedException {
    held.work(out);
    held.complete();
    held.stream.synchronize(GpuPair.TIMEOUT);
    long ticket = channel.send(batch, SendOrder.ORDERED, held.work);
    assertEquals(1, sender.metrics().inline());
    assertEquals(Status.DONE, await(ticket));
    assertEquals(1, arrived());
    assertEquals(0, gpu.events().count());
  }

  @Test
  void streamsHoldUpNoOther() {
    try (HeldStream other = new HeldStream(gpu)) {
      held.work(out);
      long waits = channel.send(batch, SendOrder.UNORDERED, held.work);
      other.work(out);
      long goes = channel.send(batch, SendOrder.UNORDERED, other.work);
      other.complete();
      assertEquals(Status.DONE, await(goes));
      assertEquals(SendState.WAITING, sender.state(waits));
      held.complete();
      assertEquals(Status.DONE, await(waits));
    }
  }

  @Test
  void eventsAreUsedAgain() {
    for (int i = 0; i < 200; i++) {
      held.work(out);
      long ticket = channel.send(batch, SendOrder.ORDERED, held.work);
      held.complete();
      assertEquals(Status.DONE, await(ticket));
    }
    assertEquals(200, arrived());
    assertEquals(1, gpu.events().count());
    assertEquals(0, gpu.events().inUse());
  }

  @Test
  void aStageCompletesAfterTheKernel() throws Exception {
    try (DeviceCompletions completions = DeviceCompletions.create(Runnable::run)) {
      held.work(out);
      CompletionStage<Void> stage = completions.after(held.work);
      completions.doWork();
      assertFalse(Failures.done(stage));
      held.complete();
      Await.until(
          () -> {
            completions.doWork();
            return Failures.done(stage);
          });
      stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void aStreamThatIsCapturingIsRefusedByNameAndItsCaptureSpared() {
    try (Capture capture = new Capture(gpu, held.stream.handle())) {
      IllegalStateException e =
          assertThrows(
              IllegalStateException.class, () -> channel.send(batch, SendOrder.ORDERED, held.work));
      assertTrue(e.getMessage().contains("is capturing a graph"), e::toString);
      assertTrue(e.getMessage().contains(Long.toHexString(held.stream.handle())), e::toString);
      assertTrue(capture.end(), "the capture was spoilt");
    }
  }

  @Test
  void anotherThreadsCaptureIsSparedWhileSendsWait() throws InterruptedException {
    try (HeldStream captured = new HeldStream(gpu)) {
      held.work(out);
      long ticket = channel.send(batch, SendOrder.ORDERED, held.work);
      try (Capture capture = new Capture(gpu, captured.stream.handle())) {
        Thread worker =
            Thread.ofPlatform()
                .start(
                    () -> {
                      sender.doWork();
                      held.work(out);
                      channel.send(batch, SendOrder.ORDERED, held.work);
                      held.complete();
                      await(ticket);
                    });
        worker.join(20_000);
        assertEquals(Status.DONE, sender.poll(ticket));
        assertTrue(capture.end(), "the capture was spoilt");
      }
      held.complete();
    }
  }

  @Test
  void closingDoesNotWaitForAKernel() {
    held.work(out);
    long ticket = channel.send(batch, SendOrder.ORDERED, held.work);
    long began = System.nanoTime();
    sender.close(Duration.ofMillis(50));
    assertTrue(System.nanoTime() - began < 5_000_000_000L);
    assertEquals(Status.CLOSED, sender.poll(ticket));
    assertEquals(0, gpu.events().inUse());
  }

  @Test
  void theStreamSubmitsBehindTheKernel() {
    QueuePair inStream = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build());
    QueuePair there = nic.queuePair(QueuePairOptions.defaults());
    Pair.connect(inStream, there);
    try (DeferredSender own = DeferredSender.builder().initiator(held.stream).build();
        Batch write =
            Batch.of(inStream, new WorkRequest.Write(source.local(0, 8), target.remote(0, 8)))) {
      held.work(out);
      long ticket =
          own.channel(1, Destination.of(inStream)).send(write, SendOrder.ORDERED, held.work);
      assertEquals(SendState.RELEASED, own.state(ticket));
      own.doWork();
      assertEquals(0, arrived());
      held.complete();
      Await.until(
          () -> {
            own.doWork();
            return own.poll(ticket) == Status.DONE;
          });
      assertEquals(1, arrived());
    }
  }
}
