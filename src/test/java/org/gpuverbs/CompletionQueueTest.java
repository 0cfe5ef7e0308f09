// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gpuverbs.internal.queue.Deadline;
import org.junit.jupiter.api.Test;

class CompletionQueueTest {
  /** Polls until there is something. */
  static void awaitCompletions(CompletionQueue queue, Completions into) {
    long deadline = Deadline.after(Pair.TIMEOUT);
    IdleStrategy idle = IdleStrategy.backoff();
    while (queue.poll(into) == 0) {
      if (Deadline.passed(deadline)) {
        throw new AssertionError("no completion in " + Pair.TIMEOUT);
      }
      idle.idle(0);
    }
  }

  @Test
  void receivesCompleteWithTheirIdsInOrder() throws InterruptedException {
    try (Pair pair = new Pair()) {
      for (int i = 0; i < 3; i++) {
        assertEquals(i, pair.peer.postReceive(100 + i, pair.remote.local(i * 64L, 64)));
      }
      pair.run(pair.send(10), pair.send(0), pair.send(64));
      Completions completions = new Completions(8);
      int seen = 0;
      long[] lengths = {10, 0, 64};
      while (seen < 3) {
        awaitCompletions(pair.received, completions);
        for (int i = 0; i < completions.size(); i++, seen++) {
          assertEquals(100 + seen, completions.id(i));
          assertEquals(lengths[seen], completions.byteLength(i));
          assertEquals(pair.peer.number(), completions.qpNumber(i));
          assertEquals(Status.DONE, completions.status(i));
          assertTrue(completions.isReceive(i));
          assertFalse(completions.hasImmediate(i));
        }
      }
    }
  }

  @Test
  void immediatesArrive() throws InterruptedException {
    try (Pair pair = new Pair()) {
      pair.postReceives(2);
      pair.run(
          new WorkRequest.SendImmediate(pair.local.local(0, 4), 0x80000001),
          new WorkRequest.WriteImmediate(pair.local.local(0, 5), pair.remote.remote(128, 5), 77));
      Completions completions = new Completions(1);
      awaitCompletions(pair.received, completions);
      assertTrue(completions.hasImmediate(0));
      assertEquals(0x80000001, completions.immediate(0));
      awaitCompletions(pair.received, completions);
      assertEquals(77, completions.immediate(0));
      assertEquals(5, completions.byteLength(0));
    }
  }

  @Test
  void aFullReceiveQueueSaysSoUntilCompletionsAreTaken() throws InterruptedException {
    try (Pair pair = new Pair()) {
      pair.postReceives(Pair.RECEIVES);
      assertEquals(Status.FULL, pair.peer.postReceive(0, pair.remote.local(0, 64)));
      pair.run(pair.send(1));
      assertEquals(Status.FULL, pair.peer.postReceive(0, pair.remote.local(0, 64)));
      awaitCompletions(pair.received, new Completions(1));
      assertEquals(Pair.RECEIVES, pair.peer.postReceive(0, pair.remote.local(0, 64)));
    }
  }

  @Test
  void completionsOfBeforeAResetTakeNoRoom() throws InterruptedException {
    try (Pair pair = new Pair()) {
      CompletionQueue queue = pair.nic.completionQueue(128);
      QueuePairOptions full = QueuePairOptions.builder().depth(64).sendQueue(queue).build();
      try (QueuePair qp = pair.nic.queuePair(full);
          QueuePair other = pair.nic.queuePair(full);
          QueuePair peer = pair.nic.queuePair(QueuePairOptions.defaults());
          QueuePair peerOfOther = pair.nic.queuePair(QueuePairOptions.defaults());
          Batch ours = Batch.of(qp, new WorkRequest.Nop());
          Batch others = Batch.of(other, new WorkRequest.Nop())) {
        Pair.connect(qp, peer);
        Pair.connect(other, peerOfOther);
        Completions completions = new Completions(128);
        long otherTickets = 0;
        for (int round = 0; round < 5; round++) {
          long before = queue.end();
          for (int i = 0; i < 40; i++) {
            assertEquals(i, pair.caller.submit(ours));
            assertEquals(otherTickets + i, pair.caller.submit(others));
          }
          Await.until(() -> queue.end() == before + 80);
          qp.reset();
          peer.reset();
          Pair.connect(qp, peer);
          for (int i = 0; i < 64; i++) {
            assertEquals(i, pair.caller.submit(ours));
          }
          long all = before + 80 + 64;
          Await.until(() -> queue.end() == all);
          assertEquals(104, queue.poll(completions));
          for (int i = 0; i < 40; i++) {
            assertEquals(other.number(), completions.qpNumber(i));
            assertEquals(otherTickets++, completions.id(i));
          }
          for (int i = 0; i < 64; i++) {
            assertEquals(qp.number(), completions.qpNumber(40 + i));
            assertEquals(i, completions.id(40 + i));
          }
          qp.reset();
          peer.reset();
          Pair.connect(qp, peer);
        }
      }
    }
  }

  @Test
  void receivesCheckTheirMemory() {
    try (Pair pair = new Pair();
        MemoryRegion readOnly = pair.nic.allocate(64);
        Nic other = Nic.open();
        MemoryRegion foreign = other.allocate(64, Access.LOCAL_WRITE)) {
      assertThrows(
          IllegalArgumentException.class, () -> pair.peer.postReceive(0, readOnly.local()));
      assertThrows(IllegalArgumentException.class, () -> pair.peer.postReceive(0, foreign.local()));
      LocalMemory one = pair.remote.local(0, 1);
      assertThrows(
          IllegalArgumentException.class, () -> pair.peer.postReceive(0, one, one, one, one));
      assertThrows(IllegalStateException.class, () -> pair.qp.postReceive(0, one));
      assertEquals(0, pair.peer.postReceive(0));
    }
  }

  @Test
  void aFullSendQueueCompletesEveryRequest() {
    try (Nic nic = Nic.open();
        CpuLanes caller = CpuLanes.caller();
        CompletionQueue sent = nic.completionQueue(64)) {
      QueuePair qp = nic.queuePair(QueuePairOptions.builder().depth(64).sendQueue(sent).build());
      qp.connect(qp.address());
      try (Batch batch =
          Batch.of(qp, new WorkRequest.Nop(), new WorkRequest.Nop(), new WorkRequest.Nop())) {
        Completions completions = new Completions(2);
        for (int round = 0; round < 100; round++) {
          long last = caller.submit(batch);
          assertEquals(round * 3L + 2, last);
          assertEquals(Status.PENDING, qp.poll(last));
          for (long next = round * 3L; next <= last; ) {
            awaitCompletions(sent, completions);
            for (int i = 0; i < completions.size(); i++) {
              assertFalse(completions.isReceive(i));
              assertEquals(next++, completions.id(i));
            }
          }
          assertEquals(Status.DONE, qp.poll(last));
        }
      } finally {
        qp.close();
      }
    }
  }

  @Test
  void aFullSendQueueStaysFullUntilItIsPolled() {
    try (Nic nic = Nic.open();
        CpuLanes caller = CpuLanes.caller();
        CompletionQueue sent = nic.completionQueue(64)) {
      QueuePair qp = nic.queuePair(QueuePairOptions.builder().depth(64).sendQueue(sent).build());
      qp.connect(qp.address());
      try (Batch batch = Batch.of(qp, new WorkRequest.Nop())) {
        for (int i = 0; i < 64; i++) {
          assertEquals(i, caller.submit(batch));
        }
        assertEquals(Status.FULL, caller.submit(batch));
        awaitCompletions(sent, new Completions(64));
        assertEquals(64, caller.submit(batch));
      } finally {
        qp.close();
      }
    }
  }

  @Test
  void aFailedRequestShowsInAFullSendQueue() {
    try (Nic nic = Nic.open();
        CpuLanes caller = CpuLanes.caller();
        CompletionQueue sent = nic.completionQueue(64)) {
      QueuePair qp = nic.queuePair(QueuePairOptions.builder().depth(64).sendQueue(sent).build());
      qp.connect(qp.address());
      try (Batch batch =
          Batch.of(
              qp,
              new WorkRequest.Nop(),
              new WorkRequest.WriteInline(1L, new RemoteMemory(8, 8, 0)),
              new WorkRequest.Nop())) {
        caller.submit(batch);
        Completions completions = new Completions(1);
        int[] syndromes = {0, Syndrome.REMOTE_ACCESS, Syndrome.FLUSHED};
        for (int i = 0; i < 3; i++) {
          awaitCompletions(sent, completions);
          assertEquals(i, completions.id(0));
          assertEquals(syndromes[i], completions.syndrome(0));
        }
        assertEquals(Syndrome.REMOTE_ACCESS, qp.poll(1));
        assertEquals(QueuePairState.ERROR, qp.state());
      } finally {
        qp.close();
      }
    }
  }

  @Test
  void completionsOfBeforeAResetAreForgotten() throws InterruptedException {
    try (Pair pair = new Pair()) {
      pair.postReceives(4);
      pair.run(pair.send(1), pair.send(1));
      pair.qp.reset();
      pair.peer.reset();
      Pair.connect(pair.qp, pair.peer);
      Completions completions = new Completions(8);
      assertEquals(0, pair.received.poll(completions));
      assertEquals(0, pair.peer.postReceive(99, pair.remote.local(0, 64)));
      pair.run(pair.send(1));
      awaitCompletions(pair.received, completions);
      assertEquals(1, completions.size());
      assertEquals(99, completions.id(0));
    }
  }

  @Test
  void aQueuePairThatCouldOverflowTheQueueIsRefused() {
    try (Nic nic = Nic.open();
        CompletionQueue queue = nic.completionQueue(128)) {
      QueuePairOptions options = QueuePairOptions.builder().depth(64).sendQueue(queue).build();
      QueuePair first = nic.queuePair(options);
      nic.queuePair(options).close();
      QueuePair second = nic.queuePair(options);
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> nic.queuePair(options));
      assertTrue(e.getMessage().contains("has room for 0"), e.getMessage());
      first.close();
      second.close();
    }
  }

  @Test
  void aQueueOfAnotherNicIsRefused() {
    try (Nic nic = Nic.open();
        Nic other = Nic.open();
        CompletionQueue queue = other.completionQueue(64)) {
      QueuePairOptions options = QueuePairOptions.builder().depth(64).sendQueue(queue).build();
      assertThrows(IllegalArgumentException.class, () -> nic.queuePair(options));
    }
  }

  @Test
  void wrongDepthsAreRefused() {
    try (Nic nic = Nic.open()) {
      for (int depth : new int[] {-1, 0, 3, 1 << 23}) {
        assertThrows(IllegalArgumentException.class, () -> nic.completionQueue(depth));
      }
    }
    assertThrows(IllegalArgumentException.class, () -> new Completions(0));
  }

  @Test
  void completionsBeyondTheSizeAreRefused() {
    Completions none = new Completions(4);
    assertThrows(IndexOutOfBoundsException.class, () -> none.id(0));
    assertThrows(IndexOutOfBoundsException.class, () -> none.syndrome(-1));
  }
}
