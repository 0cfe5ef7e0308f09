// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a deferred send is for: waiting without blocking, in order, by the right thread. */
@Timeout(60)
class DeferredSendTest {
  @Test
  void requirement1TheCallDoesNotWaitForTheDevice() {
    try (DeferredScene s = new DeferredScene()) {
      long ticket = s.send(1, s.stream.work());
      assertEquals(SendState.WAITING, s.sender.state(ticket));
      assertEquals(List.of(), s.arrived());
    }
  }

  @Test
  void requirement1TheCallDoesNotWaitForRoom() throws InterruptedException {
    try (DeferredScene s =
            new DeferredScene(DeferredSender.builder(), QueuePairOptions.builder().depth(64));
        Batch one = Batch.of(s.pair.qp, s.pair.send(0))) {
      // As many as find a receive, and as many as the queue then holds: it is full for good.
      for (int i = 0; i < Pair.RECEIVES + 64; i++) {
        assertTrue(s.pair.caller.submit(one, Pair.TIMEOUT) >= 0);
      }
      assertEquals(Status.FULL, s.pair.caller.submit(one));
      long ticket = 0;
      for (int i = 0; i < 64; i++) {
        ticket = s.channel.send(one, SendOrder.ORDERED);
      }
      assertEquals(SendState.WAITING, s.sender.state(ticket));
    }
  }

  @Test
  void requirement1TheCallDoesNotWaitForTheWorkingThread() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    try (DeferredScene s = new DeferredScene()) {
      Destination slow =
          () -> {
            inside.countDown();
            try {
              assertTrue(leave.await(20, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
            return s.pair.qp;
          };
      DeferredChannel blocked = s.sender.channel(2, slow);
      blocked.send(s.batch, SendOrder.ORDERED, s.other.work());
      s.other.complete();
      Thread worker = Thread.ofPlatform().start(s::work);
      assertTrue(inside.await(20, TimeUnit.SECONDS));
      long ticket = s.send(7);
      assertEquals(SendState.WAITING, s.sender.state(ticket));
      leave.countDown();
      worker.join();
      assertEquals(Status.DONE, s.await(ticket));
      assertEquals(List.of(0, 7), s.arrived(2));
    }
  }

  @Test
  void requirement2ASendThatWaitsForNothingGoesOutInTheCallWithoutAnEvent() {
    try (DeferredScene s = new DeferredScene()) {
      s.stream.work().complete();
      long ticket = s.send(1, s.stream);
      assertNotEquals(SendState.WAITING, s.sender.state(ticket));
      assertEquals(0, s.stream.records);
      assertEquals(1, s.sender.metrics().inline());
      assertEquals(List.of(1), s.arrived(1));
    }
  }

  @Test
  void requirement2NothingGoesOutInTheCallWhileSomethingIsAhead() {
    try (DeferredScene s = new DeferredScene()) {
      s.send(1, s.stream.work());
      long second = s.send(2, s.other);
      s.work();
      assertEquals(SendState.WAITING, s.sender.state(second));
      s.stream.complete();
      assertEquals(Status.DONE, s.await(second));
      assertEquals(List.of(1, 2), s.arrived(2));
    }
  }

  @Test
  void requirement3ASendWaitsForAllOfItsStreams() {
    try (DeferredScene s = new DeferredScene()) {
      long ticket = s.send(1, s.stream.work(), s.other.work());
      s.stream.complete();
      s.work();
      assertEquals(SendState.WAITING, s.sender.state(ticket));
      s.other.complete();
      assertEquals(Status.DONE, s.await(ticket));
    }
  }

  @Test
  void requirement4TheStreamIsMarkedAtTheCall() {
    try (DeferredScene s = new DeferredScene()) {
      long ticket = s.send(1, s.stream.work());
      s.stream.work();
      s.stream.complete();
      assertEquals(Status.DONE, s.await(ticket));
    }
  }

  @Test
  void requirement5TheRequestIsCopiedAtTheCall() {
    try (DeferredScene s = new DeferredScene()) {
      Batch inline =
          Batch.of(s.pair.qp, new WorkRequest.WriteInline(0x1234L, s.pair.remote.remote(512, 8)));
      s.send(1, s.stream.work());
      long ticket = s.channel.send(inline, SendOrder.ORDERED, s.stream);
      s.batch.immediate(0, 99);
      inline.remoteAddress(0, s.pair.remote.address() + 512);
      inline.close();
      s.stream.complete();
      assertEquals(Status.DONE, s.await(ticket));
      assertEquals(List.of(1), s.arrived(1));
      assertEquals(
          0x1234L, s.pair.remote.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 512));
    }
  }

  @Test
  void requirement5TheListOfStreamsIsTheCallers() {
    try (DeferredScene s = new DeferredScene()) {
      DeviceStream[] streams = {s.stream.work(), s.other.work()};
      long ticket = s.send(1, streams);
      streams[0] = streams[1] = null;
      s.stream.complete();
      s.other.complete();
      assertEquals(Status.DONE, s.await(ticket));
    }
  }

  @Test
  void requirement6TheDestinationIsResolvedAtTheRelease() {
    try (DeferredScene s = new DeferredScene();
        QueuePair moved = s.pair.nic.queuePair(QueuePairOptions.defaults());
        CompletionQueue arrivals = s.pair.nic.completionQueue(8);
        QueuePair there =
            s.pair.nic.queuePair(
                QueuePairOptions.builder().receiveDepth(8).receiveQueue(arrivals).build())) {
      Pair.connect(moved, there);
      there.postReceive(1, s.pair.remote.local(64, 8));
      AtomicReference<QueuePair> where = new AtomicReference<>(s.pair.qp);
      DeferredChannel channel = s.sender.channel(2, where::get);
      s.batch.immediate(0, 5);
      long ticket = channel.send(s.batch, SendOrder.ORDERED, s.stream.work());
      where.set(moved);
      s.stream.complete();
      assertEquals(Status.DONE, s.await(ticket));
      Completions completions = new Completions(8);
      Await.until(() -> arrivals.poll(completions) > 0);
      assertEquals(5, completions.immediate(0));
      assertEquals(List.of(), s.arrived());
      s.sender.close();
    }
  }

  @Test
  void requirement6ASendWaitsWhileItsDestinationIsUnknown() {
    try (DeferredScene s = new DeferredScene()) {
      AtomicReference<QueuePair> where = new AtomicReference<>();
      DeferredChannel channel = s.sender.channel(2, where::get);
      long ticket = channel.send(s.batch, SendOrder.ORDERED);
      s.work();
      assertEquals(SendState.WAITING, s.sender.state(ticket));
      where.set(s.pair.qp);
      assertEquals(Status.DONE, s.await(ticket));
    }
  }

  @Test
  void requirement6ARequestThatNamesItsPeersMemoryDoesNotGoElsewhere() throws Exception {
    try (DeferredScene s = new DeferredScene();
        Batch write = Batch.of(s.pair.qp, s.pair.write(0, 8))) {
      DeferredChannel channel = s.sender.channel(2, () -> s.pair.peer);
      DeferredSend send = channel.sendAsync(write, SendOrder.ORDERED, s.stream.work());
      s.stream.complete();
      s.work();
      RdmaException e = Failures.of(send.released());
      assertEquals(Status.UNREACHABLE, e.code());
      assertTrue(String.valueOf(e.getCause()).contains("names memory of the peer"), e::toString);
      assertThrows(IllegalStateException.class, () -> channel.send(write, SendOrder.UNORDERED));
    }
  }

  @Test
  void requirement7OrderedSendsKeepTheOrderOfTheirCallsHostOnlyOnesToo() {
    try (DeferredScene s = new DeferredScene()) {
      s.send(1, s.stream.work());
      s.send(2, s.other.work());
      s.send(3);
      s.send(4, s.stream.work());
      long last = s.send(5);
      s.other.complete();
      s.work();
      assertEquals(List.of(), s.arrived());
      s.stream.complete();
      s.stream.complete();
      assertEquals(Status.DONE, s.await(last));
      assertEquals(List.of(1, 2, 3, 4, 5), s.arrived(5));
    }
  }

  @Test
  void requirement7UnorderedSendsOvertake() {
    try (DeferredScene s = new DeferredScene()) {
      s.send(1, s.stream.work());
      s.send(2, SendOrder.UNORDERED);
      assertEquals(List.of(2), s.arrived(1));
    }
  }

  @Test
  void requirement7AnotherSourceOrStreamIsNotHeldUp() {
    try (DeferredScene s = new DeferredScene()) {
      s.send(1, s.stream.work());
      DeferredChannel second = s.sender.channel(2, Destination.of(s.pair.qp));
      s.batch.immediate(0, 2);
      second.send(s.batch, SendOrder.ORDERED, s.other.work());
      s.other.complete();
      s.work();
      assertEquals(List.of(2), s.arrived(1));
    }
  }

  @Test
  void requirement7AFullDestinationHoldsUpNoOther() {
    try (DeferredScene s = new DeferredScene()) {
      AtomicReference<QueuePair> nowhere = new AtomicReference<>();
      DeferredChannel stuck = s.sender.channel(2, nowhere::get);
      for (int i = 0; i < 100; i++) {
        stuck.send(s.batch, SendOrder.UNORDERED);
      }
      s.send(1, s.stream.work());
      s.stream.complete();
      s.work();
      assertEquals(List.of(1), s.arrived(1));
    }
  }

  @Test
  void requirement7AMovedDestinationGetsTheNextOneAfterTheLastIsComplete() {
    try (DeferredScene s = new DeferredScene();
        QueuePair moved = s.pair.nic.queuePair(QueuePairOptions.defaults());
        CompletionQueue arrivals = s.pair.nic.completionQueue(8);
        QueuePair there =
            s.pair.nic.queuePair(
                QueuePairOptions.builder().receiveDepth(8).receiveQueue(arrivals).build())) {
      Pair.connect(moved, there);
      AtomicReference<QueuePair> where = new AtomicReference<>(moved);
      DeferredChannel channel = s.sender.channel(2, where::get);
      // No receive is posted there yet, so it is not complete.
      long first = channel.send(s.batch, SendOrder.ORDERED);
      assertEquals(SendState.RELEASED, s.sender.state(first));
      where.set(s.pair.qp);
      long second = channel.send(s.batch, SendOrder.ORDERED);
      s.work();
      assertEquals(SendState.WAITING, s.sender.state(second));
      there.postReceive(1, s.pair.remote.local(64, 8));
      assertEquals(Status.DONE, s.await(second));
      assertEquals(Status.DONE, s.sender.poll(first));
      s.sender.close();
    }
  }

  @Test
  void requirement8TheThreadThatWorksIssuesTheSends() throws InterruptedException {
    try (DeferredScene s = new DeferredScene();
        Progress progress = Progress.create()) {
      AtomicReference<Thread> issuer = new AtomicReference<>();
      DeferredChannel channel =
          s.sender.channel(
              2,
              () -> {
                issuer.set(Thread.currentThread());
                return s.pair.qp;
              });
      progress.add(s.sender);
      progress.start(IdleStrategy.backoff());
      channel.send(s.batch, SendOrder.ORDERED, s.stream.work());
      Thread device = Thread.ofPlatform().start(s.stream::complete);
      device.join();
      Await.until(() -> issuer.get() != null);
      assertEquals("gpuverbs-progress", issuer.get().getName());
    }
  }
}
