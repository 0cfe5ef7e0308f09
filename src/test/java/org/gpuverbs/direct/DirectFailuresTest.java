// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CompletionQueue;
import org.gpuverbs.Completions;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.NicState;
import org.gpuverbs.PortOptions;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.QueuePairState;
import org.gpuverbs.RdmaException;
import org.gpuverbs.RemoteMemory;
import org.gpuverbs.Status;
import org.gpuverbs.Syndrome;
import org.gpuverbs.WorkRequest;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.softnic.SoftNicConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests that fail, and faults that the NIC tells of by events, by path DIRECT. */
@OnStandIn
@Timeout(120)
class DirectFailuresTest {
  // MLX5_EVENT_TYPE_* of linux include/linux/mlx5/device.h
  private static final int CQ_ERROR = 0x04;
  private static final int WQ_CATAS_ERROR = 0x05;
  private static final int PORT_DOWN = 10;
  private static final int PORT_UP = 9;
  private static final int WQ_ACCESS_ERROR = 0x11;

  private static RemoteMemory forged(Ends ends) {
    RemoteMemory real = ends.remote.remote(0, 8);
    return new RemoteMemory(real.address(), 8, real.rkey() ^ 0x5500);
  }

  private static RdmaException failure(Ends ends, WorkRequest request) {
    try (Batch batch = Batch.of(ends.qp, request)) {
      long ticket = ends.caller.submit(batch);
      return assertThrows(RdmaException.class, () -> ends.qp.await(ticket, Ends.TIMEOUT));
    }
  }

  /** Both ends afresh, and a write that succeeds. */
  private static void again(Ends ends) throws InterruptedException {
    ends.qp.reset();
    ends.peer.reset();
    Ends.connect(ends.qp, ends.peer);
    ends.run(ends.write(0, 8));
  }

  private static void awaitState(QueuePair qp, QueuePairState state) {
    long deadline = System.nanoTime() + Ends.TIMEOUT.toNanos();
    while (qp.state() != state) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError(qp + " stays " + qp.state());
      }
      Thread.onSpinWait();
    }
  }

  @Test
  void syndromesAreTheNics() throws Exception {
    try (Ends ends = new Ends();
        MemoryRegion readable = ends.nic.allocate(64, Access.REMOTE_READ)) {
      assertEquals(
          Syndrome.REMOTE_ACCESS,
          failure(ends, new WorkRequest.WriteInline(1L, forged(ends))).syndrome());
      assertEquals(QueuePairState.ERROR, ends.qp.state());
      again(ends);
      assertEquals(
          Syndrome.REMOTE_ACCESS,
          failure(ends, new WorkRequest.WriteInline(1L, readable.remote(0, 8))).syndrome());
      again(ends);
      ends.peer.postReceive(7, ends.remote.local(0, 8));
      assertEquals(
          Syndrome.REMOTE_INVALID_REQUEST,
          failure(ends, new WorkRequest.Send(ends.local.local(0, 9))).syndrome());
      again(ends);
    }
  }

  @Test
  void theNicFlushesWhatIsBehindAnError() throws Exception {
    try (Ends ends = new Ends()) {
      WorkRequest good = new WorkRequest.WriteInline(1L, ends.remote.remote(0, 8));
      try (Batch batch =
          Batch.of(ends.qp, good, good, new WorkRequest.WriteInline(1L, forged(ends)), good)) {
        long last = ends.caller.submit(batch);
        assertThrows(RdmaException.class, () -> ends.qp.await(last, Ends.TIMEOUT));
        assertEquals(Status.DONE, ends.qp.poll(1));
        assertEquals(Syndrome.REMOTE_ACCESS, ends.qp.poll(2));
        assertEquals(Syndrome.FLUSHED, ends.qp.poll(last));
        assertEquals(2, ends.qp.errorTicket());
      }
      awaitNicState(ends.qp, "ERROR");
      again(ends);
    }
  }

  private static void awaitNicState(QueuePair qp, String state) {
    long deadline = System.nanoTime() + Ends.TIMEOUT.toNanos();
    NicState last;
    do {
      last = qp.queryNic().orElseThrow();
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError(qp + " is " + last);
      }
    } while (!last.state().equals(state));
  }

  @Test
  void aFullSendQueueKeepsTheRootCauseWhereFlushesOverwriteACollapsedOne() throws Exception {
    SoftNicConfig overwriting = SoftNicConfig.defaults().withFlushesOverwrite(true);
    try (StandInNic one = new StandInNic(StandIn.start(overwriting))) {
      CompletionQueue sent = one.nic.completionQueue(64);
      QueuePair qp =
          one.nic.queuePair(QueuePairOptions.builder().depth(64).sendQueue(sent).build());
      QueuePair peer = one.nic.queuePair(QueuePairOptions.defaults());
      Ends.connect(qp, peer);
      RemoteMemory nowhere = new RemoteMemory(8, 8, 1);
      try (Batch batch =
          Batch.of(
              qp,
              new WorkRequest.Nop(),
              new WorkRequest.WriteInline(1L, nowhere),
              new WorkRequest.Nop())) {
        one.caller.submit(batch);
      }
      Completions got = new Completions(8);
      int[] syndromes = new int[3];
      for (int n = 0; n < 3; ) {
        Ends.await(sent, got);
        for (int k = 0; k < got.size(); k++) {
          syndromes[n++] = got.syndrome(k);
        }
      }
      assertEquals(0, syndromes[0]);
      assertEquals(Syndrome.REMOTE_ACCESS, syndromes[1]);
      assertEquals(Syndrome.FLUSHED, syndromes[2]);
      assertEquals(Syndrome.REMOTE_ACCESS, qp.errorSyndrome());
    }
  }

  @Test
  void aPeerThatIsNotThereIsGivenUp() throws Exception {
    PortOptions port = PortOptions.defaults().withRetries(8, 2, 1, 1);
    try (Ends ends = new Ends(StandIn.start(), QueuePairOptions.builder(), port)) {
      ends.peer.close();
      assertEquals(Syndrome.RETRY_EXCEEDED, failure(ends, ends.write(0, 8)).syndrome());
    }
  }

  @Test
  void aMessageWithoutAReceiveRunsOutOfRetries() {
    PortOptions port = PortOptions.defaults().withRetries(8, 2, 1, 1);
    try (Ends ends = new Ends(StandIn.start(), QueuePairOptions.builder(), port)) {
      assertEquals(
          Syndrome.RNR_EXCEEDED,
          failure(ends, new WorkRequest.Send(ends.local.local(0, 8))).syndrome());
      DevxQueue queue = StandIn.queuePair(ends.qp.number());
      assertEquals(List.of(2, 1, 8), List.of(queue.retries(), queue.rnrRetries(), queue.timeout()));
    }
  }

  @Test
  void aFatalEventEndsWaitsAndNamesItself() throws Exception {
    try (Ends ends = new Ends()) {
      // Waits for a receive that never comes.
      try (Batch batch = Batch.of(ends.qp, new WorkRequest.Send(ends.local.local(0, 8)))) {
        long ticket = ends.caller.submit(batch);
        assertEquals(Status.PENDING, ends.qp.poll(ticket));
        assertEquals(1, ends.machine.raise(ends.qp.number(), WQ_CATAS_ERROR));
        RdmaException e =
            assertThrows(RdmaException.class, () -> ends.qp.await(ticket, Ends.TIMEOUT));
        // What the NIC flushes may be here before the event is.
        assertTrue(
            e.syndrome() == Syndrome.FLUSHED
                || String.valueOf(e.getMessage()).contains("queue pair fatal error"),
            e.getMessage());
      }
      awaitState(ends.qp, QueuePairState.ERROR);
      long deadline = Deadline.after(Ends.TIMEOUT);
      while (!ends.qp.queryNic().orElseThrow().event().contains("fatal")) {
        assertFalse(Deadline.passed(deadline), "no event");
        Thread.onSpinWait();
      }
      again(ends);
    }
  }

  @Test
  void anAccessErrorOfAPeerEndsTheTargetToo() throws Exception {
    try (Ends ends = new Ends()) {
      ends.machine.raise(ends.peer.number(), WQ_ACCESS_ERROR);
      awaitState(ends.peer, QueuePairState.ERROR);
      assertTrue(ends.peer.queryNic().orElseThrow().event().contains("access error"));
      again(ends);
      assertEquals("", ends.peer.queryNic().orElseThrow().event());
    }
  }

  @Test
  void anErrorOfASharedQueueEndsItsQueuePairs() {
    try (Ends ends = new Ends()) {
      int cq = StandIn.queuePair(ends.peer.number()).receiveCq();
      assertEquals(1, ends.machine.raise(cq, CQ_ERROR));
      awaitState(ends.peer, QueuePairState.ERROR);
      assertTrue(ends.peer.queryNic().orElseThrow().event().contains("CQ error"));
      assertEquals(QueuePairState.READY, ends.qp.state());
    }
  }

  @Test
  void aPortThatWentDownIsToldAndBreaksNothing() throws Exception {
    try (Ends ends = new Ends()) {
      ends.machine.set("port.state", 1);
      ends.machine.raise(PORT_DOWN);
      long deadline = System.nanoTime() + Ends.TIMEOUT.toNanos();
      while (!ends.qp.queryNic().orElseThrow().event().contains("port down")) {
        assertTrue(System.nanoTime() - deadline < 0, "no event");
        Thread.onSpinWait();
      }
      assertEquals(QueuePairState.READY, ends.qp.state());
      ends.machine.set("port.state", 4);
      ends.machine.raise(PORT_UP);
      ends.run(ends.write(0, 8));
    }
  }
}
