// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of a deferred send: stages, errors, cancelling, bounds, the end. */
@Timeout(60)
class DeferredLifecycleTest {
  @Test
  void requirement9ReleasedSourceReusableAndDeliveredAreThreeStages() throws Exception {
    try (DeferredScene s = new DeferredScene();
        Batch toPeerless = Batch.of(s.pair.peer, s.pair.send(8))) {
      DeferredChannel channel = s.sender.channel(2, Destination.of(s.pair.peer));
      s.stream.work();
      DeferredSend send = channel.sendAsync(toPeerless, SendOrder.ORDERED, s.stream);
      assertFalse(Failures.done(send.released()));
      s.stream.complete();
      s.work();
      assertTrue(Failures.done(send.released()));
      assertEquals(SendState.RELEASED, send.state());
      assertFalse(Failures.done(send.sourceReusable()));
      assertFalse(Failures.done(send.delivered()));
      s.pair.qp.close();
      // It can't arrive any more, and the NIC has let go of the source.
      Await.until(
          () -> {
            s.work();
            return Failures.done(send.delivered());
          });
      assertTrue(Failures.of(send.delivered()).syndrome() != 0);
      send.sourceReusable().toCompletableFuture().get(20, TimeUnit.SECONDS);
      send.released().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void requirement9ADeliveredSendHasAllStagesComplete() throws Exception {
    try (DeferredScene s = new DeferredScene()) {
      DeferredSend send = s.sendAsync(1, s.stream.work());
      s.stream.complete();
      assertEquals(Status.DONE, s.await(send.ticket()));
      send.released().toCompletableFuture().get(20, TimeUnit.SECONDS);
      send.sourceReusable().toCompletableFuture().get(20, TimeUnit.SECONDS);
      send.delivered().toCompletableFuture().get(20, TimeUnit.SECONDS);
      assertEquals(SendState.DELIVERED, send.state());
    }
  }

  @Test
  void requirement9TheSourceOfInlineDataIsReusableAtTheRelease() {
    try (DeferredScene s = new DeferredScene();
        QueuePair unconnected = s.pair.nic.queuePair(QueuePairOptions.defaults());
        QueuePair slow = s.pair.nic.queuePair(QueuePairOptions.defaults());
        Batch inline =
            Batch.of(slow, new WorkRequest.WriteInline(1L, s.pair.remote.remote(0, 8)))) {
      // Its peer has not connected back, so nothing completes for a while.
      slow.connect(unconnected.address());
      DeferredSend send =
          s.sender.channel(2, Destination.of(slow)).sendAsync(inline, SendOrder.ORDERED);
      assertTrue(Failures.done(send.sourceReusable()));
      assertEquals(SendState.RELEASED, send.state());
      s.sender.close(Duration.ZERO);
    }
  }

  @Test
  void requirement9TheCallerCantCompleteAStage() {
    try (DeferredScene s = new DeferredScene()) {
      DeferredSend send = s.sendAsync(1, s.stream.work());
      send.released().toCompletableFuture().complete(null);
      assertFalse(Failures.done(send.released()));
      assertEquals(SendState.WAITING, send.state());
    }
  }

  @Test
  void requirement9AVirtualThreadMayWaitForAnyStage() throws Exception {
    try (DeferredScene s = new DeferredScene();
        Progress progress = Progress.create()) {
      progress.add(s.sender);
      progress.start(IdleStrategy.backoff());
      DeferredSend send = s.sendAsync(1, s.stream.work());
      CompletableFuture<Boolean> virtual = new CompletableFuture<>();
      Thread.ofVirtual()
          .start(
              () -> {
                send.delivered().toCompletableFuture().join();
                virtual.complete(Thread.currentThread().isVirtual());
              });
      s.stream.complete();
      assertTrue(virtual.get(20, TimeUnit.SECONDS));
    }
  }

  @Test
  void requirement10PendingSendsCountUntilTheyAreOver() {
    try (DeferredScene s = new DeferredScene()) {
      assertEquals(0, s.sender.pending());
      long first = s.send(1, s.stream.work());
      long second = s.send(2, s.stream.work());
      assertEquals(2, s.sender.pending());
      assertEquals(2, s.sender.metrics().waiting());
      s.sender.cancel(first);
      s.work();
      // Its source is busy until the device is done with it.
      assertEquals(2, s.sender.pending());
      s.stream.completeAll();
      s.await(second);
      assertEquals(0, s.sender.pending());
    }
  }

  @Test
  void requirement11ADeviceErrorFailsTheSendByNameAndWhatIsOrderedBehindIt() {
    try (DeferredScene s = new DeferredScene()) {
      DeferredSend ahead = s.sendAsync(1, s.other.work());
      DeferredSend broken = s.sendAsync(2, s.stream.work());
      DeferredSend behind = s.sendAsync(3);
      DeferredChannel channel = s.sender.channel(2, Destination.of(s.pair.qp));
      s.batch.immediate(0, 4);
      DeferredSend elsewhere = channel.sendAsync(s.batch, SendOrder.ORDERED, s.other);
      s.stream.fail();
      s.work();
      RdmaException e = Failures.of(broken.released());
      assertEquals(Status.DEVICE_ERROR, e.code());
      assertTrue(String.valueOf(e.getCause()).contains("manual stream 0"), e::toString);
      assertEquals(Status.DEVICE_ERROR, s.sender.poll(broken.ticket()));
      assertEquals(Syndrome.FLUSHED, Failures.of(behind.delivered()).syndrome());
      assertEquals(SendState.WAITING, ahead.state());
      s.other.complete();
      assertEquals(Status.DONE, s.await(ahead.ticket()));
      assertEquals(Status.DONE, s.await(elsewhere.ticket()));
      assertEquals(List.of(1, 4), s.arrived(2));
    }
  }

  @Test
  void requirement11AFailedChannelRefusesOrderedSendsUntilItIsReset() {
    try (DeferredScene s = new DeferredScene()) {
      long broken = s.send(1, s.stream.work());
      s.stream.fail();
      s.work();
      assertTrue(s.channel.isFailed());
      assertEquals(Status.CHANNEL_ERROR, s.channel.send(s.batch, SendOrder.ORDERED));
      assertTrue(s.channel.send(s.batch, SendOrder.UNORDERED) >= 0);
      s.channel.reset();
      assertEquals(Status.DONE, s.await(s.send(2)));
      assertEquals(Status.DEVICE_ERROR, s.sender.poll(broken));
    }
  }

  @Test
  void requirement11AStreamThatHasFailedRefusesTheSend() {
    try (DeferredScene s = new DeferredScene()) {
      s.stream.work().fail();
      assertEquals(Status.DEVICE_ERROR, s.channel.send(s.batch, SendOrder.ORDERED, s.stream));
      assertEquals(Status.DEVICE_ERROR, Failures.of(s.sendAsync(1, s.stream).released()).code());
      assertEquals(0, s.sender.pending());
      assertEquals(0, s.stream.pool.inUse());
    }
  }

  @Test
  void requirement11AnErrorIsNotAskedAboutAgain() {
    try (DeferredScene s = new DeferredScene()) {
      s.send(1, s.stream.work());
      s.stream.fail();
      s.work();
      long queries = s.stream.queries;
      s.work();
      assertEquals(queries, s.stream.queries);
      assertEquals(0, s.sender.pending());
    }
  }

  @Test
  void requirement12CancellingBeforeTheReleaseWithdrawsTheSendAndKeepsTheSourceBusy()
      throws Exception {
    try (DeferredScene s = new DeferredScene()) {
      DeferredSend first = s.sendAsync(1, s.stream.work());
      DeferredSend second = s.sendAsync(2);
      assertTrue(first.cancel());
      assertFalse(first.cancel());
      s.work();
      assertEquals(SendState.CANCELLED, first.state());
      assertEquals(Status.CANCELLED, Failures.of(first.released()).code());
      assertEquals(Status.CANCELLED, Failures.of(first.delivered()).code());
      assertFalse(Failures.done(first.sourceReusable()));
      assertEquals(Status.DONE, s.await(second.ticket()));
      s.stream.complete();
      s.work();
      first.sourceReusable().toCompletableFuture().get(20, TimeUnit.SECONDS);
      assertEquals(List.of(2), s.arrived(1));
      assertEquals(SendState.CANCELLED, first.state());
    }
  }

  @Test
  void requirement12CancellingAfterTheReleaseIsRefused() {
    try (DeferredScene s = new DeferredScene()) {
      DeferredSend send = s.sendAsync(1);
      assertFalse(send.cancel());
      assertEquals(Status.DONE, s.await(send.ticket()));
      assertFalse(send.cancel());
      assertEquals(List.of(1), s.arrived(1));
    }
  }

  @Test
  void requirement13MoreThanTheCapacityIsRefused() {
    try (DeferredScene s = new DeferredScene(DeferredSender.builder().capacity(2))) {
      s.send(1, s.stream.work());
      s.send(2, s.stream);
      assertEquals(Status.FULL, s.channel.send(s.batch, SendOrder.UNORDERED, s.stream));
      assertEquals(Status.FULL, Failures.of(s.sendAsync(3, s.stream).released()).code());
      assertEquals(2, s.sender.metrics().refused());
      s.stream.complete();
      Await.until(
          () -> {
            s.work();
            return s.sender.pending() == 0;
          });
      assertTrue(s.channel.send(s.batch, SendOrder.ORDERED) >= 0);
    }
  }

  @Test
  void requirement14EventsAreUsedAgain() {
    try (DeferredScene s = new DeferredScene()) {
      for (int i = 0; i < 1000; i++) {
        long ticket = s.send(i, s.stream.work());
        s.stream.complete();
        assertEquals(Status.DONE, s.await(ticket));
        s.arrived();
        s.pair.postReceives(1);
      }
      assertEquals(1000, s.stream.records);
      assertEquals(1, s.stream.pool.count());
      assertEquals(0, s.stream.pool.inUse());
    }
  }

  @Test
  void requirement15AStreamThatIsCapturingIsRefusedByName() {
    try (DeferredScene s = new DeferredScene()) {
      s.stream.capturing(true);
      IllegalStateException e =
          assertThrows(
              IllegalStateException.class,
              () -> s.channel.send(s.batch, SendOrder.ORDERED, s.stream));
      assertTrue(e.getMessage().contains("manual stream 0 is capturing a graph"), e::toString);
      assertEquals(0, s.stream.records);
      assertEquals(0, s.sender.pending());
    }
  }

  @Test
  void requirement16ClosingFailsWhatIsLeftAtTheDeadline() {
    try (DeferredScene s = new DeferredScene()) {
      DeferredSend stuck = s.sendAsync(1, s.stream.work());
      DeferredSend behind = s.sendAsync(2);
      s.sender.close(Duration.ofMillis(20));
      assertEquals(Status.CLOSED, Failures.of(stuck.released()).code());
      assertEquals(Status.CLOSED, Failures.of(behind.released()).code());
      assertEquals(Status.CLOSED, Failures.of(stuck.sourceReusable()).code());
      assertEquals(Status.CLOSED, s.sender.poll(stuck.ticket()));
      assertEquals(0, s.sender.pending());
      assertEquals(0, s.stream.pool.inUse());
      assertThrows(IllegalStateException.class, () -> s.channel.send(s.batch, SendOrder.ORDERED));
      assertThrows(IllegalStateException.class, s.sender::doWork);
    }
  }

  @Test
  void requirement16ClosingFinishesWhatCanBeDone() {
    try (DeferredScene s = new DeferredScene()) {
      long first = s.send(1, s.stream.work());
      s.stream.complete();
      s.sender.close(Pair.TIMEOUT);
      assertEquals(Status.DONE, s.sender.poll(first));
      assertEquals(List.of(1), s.arrived(1));
    }
  }

  @Test
  void requirement17OneThreadWorksAtATime() {
    try (DeferredScene s = new DeferredScene();
        Progress progress = Progress.create()) {
      progress.add(s.sender);
      assertThrows(IllegalStateException.class, s.sender::doWork);
      assertThrows(IllegalStateException.class, () -> progress.add(s.sender));
      s.send(1, s.stream.work());
      assertTrue(progress.doWork() >= 0);
      s.stream.complete();
      Await.until(() -> progress.doWork() > 0);
      assertEquals(List.of(1), s.arrived(1));
      progress.close();
      assertEquals(0, s.sender.doWork());
    }
  }

  @Test
  void requirement17TheTimeOfDeferralIsMeasured() {
    try (DeferredScene s = new DeferredScene()) {
      assertEquals(Duration.ZERO, s.sender.metrics().deferralMean());
      long began = System.nanoTime();
      long ticket = s.send(1, s.stream.work());
      long sent = System.nanoTime();
      s.stream.complete();
      s.work();
      long most = System.nanoTime() - began;
      s.await(ticket);
      DeferralMetrics m = s.sender.metrics();
      assertEquals(1, m.accepted());
      assertEquals(0, m.inline());
      assertEquals(1, m.released());
      assertEquals(1, m.delivered());
      assertTrue(m.deferralMost().toNanos() <= most);
      assertTrue(m.deferralMost().toNanos() > 0 && sent > began);
      assertEquals(m.deferralMost(), m.deferralMean());
      assertTrue(m.deferralQuantile(0.5).compareTo(m.deferralMost()) > 0);
    }
  }

  @Test
  void theSameSourceAndDestinationGiveTheSameChannelUntilItIsForgotten() {
    try (DeferredScene s = new DeferredScene()) {
      assertSame(s.channel, s.sender.channel(1, Destination.of(s.pair.qp)));
      assertNotSame(s.channel, s.sender.channel(2, Destination.of(s.pair.qp)));
      s.sender.forget(s.channel);
      s.sender.forget(s.channel);
      assertNotSame(s.channel, s.sender.channel(1, Destination.of(s.pair.qp)));
      assertEquals(Status.DONE, s.await(s.send(1)));
    }
  }

  @Test
  void laneThreadsMaySubmitWhatWasDeferred() {
    try (CpuLanes lanes = CpuLanes.start(2);
        DeferredScene s = new DeferredScene(DeferredSender.builder().initiator(lanes))) {
      long inline = s.send(1);
      long deferred = s.send(2, s.stream.work());
      long behind = s.send(3);
      s.stream.complete();
      assertEquals(Status.DONE, s.await(behind));
      assertEquals(Status.DONE, s.await(deferred));
      assertEquals(Status.DONE, s.await(inline));
      assertEquals(List.of(1, 2, 3), s.arrived(3));
    }
  }

  @Test
  void aSendThatLaneThreadsHadTakenEndsWhenTheQueuePairFails() {
    try (CpuLanes lanes = CpuLanes.start(2);
        DeferredScene s = new DeferredScene(DeferredSender.builder().initiator(lanes));
        Batch bad =
            Batch.of(s.pair.qp, new WorkRequest.WriteInline(1L, new RemoteMemory(8, 8, 0)))) {
      DeferredSend failed = s.channel.sendAsync(bad, SendOrder.ORDERED, s.stream.work());
      DeferredSend behind = s.sendAsync(2);
      s.stream.complete();
      Await.until(
          () -> {
            s.work();
            return s.sender.pending() == 0;
          });
      assertEquals(Syndrome.REMOTE_ACCESS, Failures.of(failed.delivered()).syndrome());
      assertTrue(Failures.of(behind.delivered()).code() != 0);
      assertTrue(Failures.done(failed.sourceReusable()));
      assertTrue(s.channel.isFailed());
    }
  }
}
