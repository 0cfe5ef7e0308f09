// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConnectTest {
  private final Nic nic = Nic.open();
  private final CpuLanes caller = CpuLanes.caller();

  @AfterEach
  void close() {
    caller.close();
    nic.close();
  }

  private QueuePair queuePair() {
    return nic.queuePair(QueuePairOptions.defaults());
  }

  @Test
  void anUnconnectedQueuePairRefusesRequests() {
    QueuePair qp = queuePair();
    assertEquals(QueuePairState.RESET, qp.state());
    try (Batch batch = Batch.of(qp, new WorkRequest.Nop())) {
      assertEquals(Status.NOT_CONNECTED, caller.submit(batch));
    }
    try (Batch batch = Batch.of(qp, new WorkRequest.Nop());
        CpuLanes lanes = CpuLanes.start(2)) {
      assertEquals(Status.NOT_CONNECTED, lanes.submit(batch));
    }
  }

  @Test
  void aSecondConnectIsRefusedByName() {
    QueuePair qp = queuePair();
    QueuePairAddress peer = queuePair().address();
    qp.connect(peer);
    assertEquals(QueuePairState.READY, qp.state());
    IllegalStateException e = assertThrows(IllegalStateException.class, () -> qp.connect(peer));
    assertTrue(e.getMessage().contains(qp + " is READY"), e.getMessage());
  }

  @Test
  void aPeerOnAnotherPathIsRefused() {
    QueuePairAddress soft = queuePair().address();
    QueuePairAddress direct =
        new QueuePairAddress(
            Path.DIRECT, soft.guid(), soft.number(), soft.packetSequence(), 0, 0, 0, 0);
    assertThrows(IllegalArgumentException.class, () -> queuePair().connect(direct));
  }

  @Test
  void aNicThatIsNotInThisJvmIsRefused() {
    QueuePairAddress elsewhere = new QueuePairAddress(Path.SOFT, ~nic.guid(), 1, 0, 0, 0, 0, 0);
    QueuePair qp = queuePair();
    RdmaException e = assertThrows(RdmaException.class, () -> qp.connect(elsewhere));
    assertTrue(e.hint().contains("one JVM"), e.hint());
    assertEquals(QueuePairState.RESET, qp.state());
  }

  @Test
  void queuePairsOfTwoNicsConnect() throws InterruptedException {
    try (Nic other = Nic.open();
        MemoryRegion target = other.allocate(64, Access.REMOTE_WRITE)) {
      QueuePair qp = queuePair();
      QueuePair peer = other.queuePair(QueuePairOptions.defaults());
      Pair.connect(qp, peer);
      try (Batch batch = Batch.of(qp, new WorkRequest.WriteInline(5L, target.remote(0, 8)))) {
        qp.await(caller.submit(batch), Pair.TIMEOUT);
      }
      assertEquals(5, target.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0));
    }
  }

  @Test
  void aQueuePairMayConnectToItself() throws InterruptedException {
    QueuePair qp = queuePair();
    qp.connect(qp.address());
    try (Batch batch = Batch.of(qp, new WorkRequest.Nop())) {
      qp.await(caller.submit(batch), Pair.TIMEOUT);
    }
  }

  @Test
  void aPeerThatNeverConnectsBackFailsTheRequest() {
    QueuePair qp = queuePair();
    qp.connect(queuePair().address());
    try (MemoryRegion target = nic.allocate(8, Access.REMOTE_WRITE);
        Batch batch = Batch.of(qp, new WorkRequest.WriteInline(1L, target.remote()))) {
      long ticket = caller.submit(batch);
      RdmaException e = assertThrows(RdmaException.class, () -> qp.await(ticket, Pair.TIMEOUT));
      assertEquals(Syndrome.RETRY_EXCEEDED, e.syndrome());
    }
  }

  @Test
  void resetStartsBothSidesAfresh() throws InterruptedException {
    try (Pair pair = new Pair()) {
      pair.run(pair.write(0, 8), pair.write(8, 8));
      QueuePairAddress before = pair.qp.address();
      pair.qp.reset();
      pair.peer.reset();
      assertEquals(QueuePairState.RESET, pair.qp.state());
      assertEquals(0, pair.qp.completed());
      assertEquals(before.number(), pair.qp.address().number());
      assertNotEquals(before, pair.qp.address());
      Pair.connect(pair.qp, pair.peer);
      pair.run(pair.write(0, 8));
      assertEquals(1, pair.qp.completed());
    }
  }

  @Test
  void batchesOutliveAReset() throws InterruptedException {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, pair.write(0, 8))) {
      pair.qp.await(pair.caller.submit(batch), Pair.TIMEOUT);
      pair.qp.reset();
      assertEquals(Status.NOT_CONNECTED, pair.caller.submit(batch));
      pair.peer.reset();
      Pair.connect(pair.qp, pair.peer);
      pair.qp.await(pair.caller.submit(batch), Pair.TIMEOUT);
    }
  }

  @Test
  void aWaitForATicketEndsWithTheReset() throws Exception {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, pair.send(8))) {
      long ticket = pair.caller.submit(batch);
      FutureTask<RdmaException> wait =
          new FutureTask<>(
              () -> assertThrows(RdmaException.class, () -> pair.qp.await(ticket, Pair.TIMEOUT)));
      Thread waiter = Thread.ofPlatform().start(wait);
      Await.until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
      pair.qp.reset();
      pair.peer.reset();
      Pair.connect(pair.qp, pair.peer);
      long code = wait.get(20, TimeUnit.SECONDS).code();
      assertTrue(code == Status.NOT_CONNECTED || code == Status.QP_ERROR, "code " + code);
    }
  }

  @Test
  void pathsWithoutBackendAreRefusedWithReasonAndFix() {
    for (Path path : new Path[] {Path.DIRECT, Path.PROXY}) {
      QueuePairOptions options = QueuePairOptions.builder().path(path).build();
      RdmaException e = assertThrows(RdmaException.class, () -> nic.queuePair(options));
      assertTrue(e.getMessage().contains(path.name()), e.getMessage());
      assertTrue(e.hint().contains("SOFT"), e.hint());
    }
  }

  @Test
  void theSoftwareNicIsListedFirstAndSaysWhyNotMore() {
    NicInfo first = Nic.list().getFirst();
    assertEquals("soft0", first.name());
    assertTrue(first.path(Path.SOFT).available());
    assertTrue(!first.path(Path.DIRECT).available());
    assertTrue(!first.path(Path.DIRECT).reason().isEmpty());
    assertTrue(!first.path(Path.PROXY).fix().isEmpty());
  }
}
