// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Orders of closing, and use after it. */
class CloseTest {
  private static IllegalStateException assertNames(Object closed, Runnable use) {
    IllegalStateException e = assertThrows(IllegalStateException.class, use::run);
    assertTrue(e.getMessage().startsWith(closed + " is closed"), e.getMessage());
    return e;
  }

  @Test
  void closingANicClosesEverythingOfIt() {
    Pair pair = new Pair();
    Batch batch = Batch.of(pair.qp, pair.write(0, 8));
    assertEquals(0, pair.caller.submit(batch));
    pair.nic.close();
    assertEquals(QueuePairState.CLOSED, pair.qp.state());
    assertEquals(QueuePairState.CLOSED, pair.peer.state());
    assertThrows(IllegalStateException.class, () -> pair.received.poll(new Completions(1)));
    assertThrows(IllegalStateException.class, () -> pair.local.remote(0, 8));
    assertEquals(Status.CLOSED, pair.caller.submit(batch));
    pair.nic.close();
    batch.close();
    pair.close();
  }

  @Test
  void childrenMayBeClosedAfterTheirNic() {
    Pair pair = new Pair();
    pair.nic.close();
    pair.qp.close();
    pair.peer.close();
    pair.received.close();
    pair.local.close();
    pair.remote.close();
    pair.caller.close();
  }

  @Test
  void aClosedNicNamesItself() {
    Nic nic = Nic.open();
    nic.close();
    assertNames(nic, () -> nic.allocate(64));
    assertNames(nic, () -> nic.completionQueue(64));
    assertNames(nic, () -> nic.queuePair(QueuePairOptions.defaults()));
    assertEquals("soft0", nic.info().name());
  }

  static Stream<Consumer<QueuePair>> usesOfAQueuePair() {
    return Stream.of(
        QueuePair::address,
        QueuePair::completed,
        QueuePair::counters,
        QueuePair::errorSyndrome,
        QueuePair::errorTicket,
        QueuePair::deviceHandle,
        qp -> Batch.of(qp, new WorkRequest.Nop()));
  }

  @ParameterizedTest
  @MethodSource("usesOfAQueuePair")
  void aClosedQueuePairNamesItself(Consumer<QueuePair> use) {
    try (Nic nic = Nic.open()) {
      QueuePair qp = nic.queuePair(QueuePairOptions.defaults());
      qp.close();
      assertNames(qp, () -> use.accept(qp));
    }
  }

  @Test
  void aClosedQueuePairCantBeConnectedOrReset() {
    try (Nic nic = Nic.open();
        QueuePair peer = nic.queuePair(QueuePairOptions.defaults())) {
      QueuePair qp = nic.queuePair(QueuePairOptions.defaults());
      qp.close();
      assertNames(qp, () -> qp.connect(peer.address()));
      assertNames(qp, qp::reset);
    }
  }

  @Test
  void theCallsThatAllocateNothingAnswerClosed() {
    try (Pair pair = new Pair()) {
      Batch batch = Batch.of(pair.qp, new WorkRequest.Nop());
      pair.qp.close();
      pair.peer.close();
      assertEquals(Status.CLOSED, pair.caller.submit(batch));
      assertEquals(Status.CLOSED, pair.qp.poll(0));
      assertEquals(Status.CLOSED, pair.peer.postReceive(0, pair.remote.local(0, 8)));
      assertEquals(QueuePairState.CLOSED, pair.qp.state());
      RdmaException e = assertThrows(RdmaException.class, () -> pair.qp.await(0, Pair.TIMEOUT));
      assertEquals(Status.CLOSED, e.code());
    }
  }

  @Test
  void aWaitEndsWhenTheQueuePairIsClosed() throws Exception {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, pair.send(8))) {
      long ticket = pair.caller.submit(batch);
      FutureTask<RdmaException> wait =
          new FutureTask<>(
              () -> assertThrows(RdmaException.class, () -> pair.qp.await(ticket, Pair.TIMEOUT)));
      Thread waiter = Thread.ofPlatform().start(wait);
      Await.until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
      pair.qp.close();
      assertEquals(Status.CLOSED, wait.get(20, TimeUnit.SECONDS).code());
    }
  }

  @Test
  void aCompletionQueueInUseIsNotClosed() {
    try (Nic nic = Nic.open()) {
      CompletionQueue queue = nic.completionQueue(64);
      QueuePair qp = nic.queuePair(QueuePairOptions.builder().depth(64).sendQueue(queue).build());
      IllegalStateException e = assertThrows(IllegalStateException.class, queue::close);
      assertTrue(e.getMessage().contains("used by 1 queue pairs"), e.getMessage());
      qp.close();
      queue.close();
      queue.close();
      assertNames(queue, () -> queue.poll(new Completions(1)));
    }
  }

  @Test
  void aClosedCompletionQueueTakesNoQueuePair() {
    try (Nic nic = Nic.open()) {
      CompletionQueue queue = nic.completionQueue(64);
      queue.close();
      QueuePairOptions.Builder options = QueuePairOptions.builder().depth(64);
      assertNames(queue, () -> nic.queuePair(options.sendQueue(queue).build()));
    }
  }

  @Test
  void aClosedInitiatorNamesItself() {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop())) {
      for (CpuLanes lanes : new CpuLanes[] {CpuLanes.caller(), CpuLanes.start(2)}) {
        lanes.close();
        lanes.close();
        assertTrue(lanes.isClosed());
        assertNames(lanes, () -> lanes.submit(batch));
      }
    }
  }

  @Test
  void lanesFinishWhatWasSubmittedBeforeTheyClose() throws InterruptedException {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, pair.write(0, 64))) {
      CpuLanes lanes = CpuLanes.start(3);
      long ticket = lanes.submit(batch);
      lanes.close();
      pair.qp.await(ticket, Pair.TIMEOUT);
    }
  }

  @Test
  void batchesAndQueuePairsCloseInAnyOrderWhileLanesWork() {
    for (int order = 0; order < 4; order++) {
      try (Pair pair = new Pair()) {
        CpuLanes lanes = CpuLanes.start(2);
        Batch batch = Batch.of(pair.qp, pair.write(0, 64), pair.write(64, 64));
        for (int i = 0; i < 20; i++) {
          assertTrue(lanes.submit(batch) >= 0);
        }
        switch (order) {
          case 0 -> batch.close();
          case 1 -> pair.qp.close();
          case 2 -> pair.nic.close();
          default -> lanes.close();
        }
        pair.nic.close();
        batch.close();
        lanes.close();
      }
    }
  }

  @Test
  void aUserThatDoesNotLetGoQuarantinesTheQueuePair() {
    try (Nic nic = Nic.open()) {
      QueuePair qp =
          nic.queuePair(QueuePairOptions.builder().closeTimeout(Duration.ofMillis(20)).build());
      assertTrue(qp.gate().enter());
      qp.close();
      assertEquals(QueuePairState.CLOSED, qp.state());
      // Its memory is still there: the one inside may go on.
      assertEquals(Status.CLOSED, qp.queue().poll(0));
      qp.gate().exit();
      assertFalse(qp.gate().enter());
    }
  }

  @Test
  void closingARegionTwiceAndAfterItsArenaIsFine() {
    try (Nic nic = Nic.open()) {
      java.lang.foreign.Arena arena = java.lang.foreign.Arena.ofShared();
      MemoryRegion region = nic.register(arena.allocate(64));
      arena.close();
      region.close();
      region.close();
    }
  }
}
