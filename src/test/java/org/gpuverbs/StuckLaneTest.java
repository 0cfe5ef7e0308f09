// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.Layouts;
import org.gpuverbs.internal.shim.Memory;
import org.junit.jupiter.api.Test;

/**
 * Submitters that wait for a turn which never comes, because the slot before theirs was reserved
 * and abandoned.
 */
class StuckLaneTest {
  private static final Duration SHORT = Duration.ofMillis(30);

  private static void abandonOneSlot(QueuePair qp) {
    Memory.at(qp.deviceHandle(), Layouts.SQ_RESV_HEAD + 8).set(JAVA_LONG, Layouts.SQ_RESV_HEAD, 1);
  }

  @Test
  void theSubmitTimeoutSetsTheQueuePairsError() {
    try (Pair pair = new Pair(QueuePairOptions.builder().submitTimeout(SHORT));
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop())) {
      abandonOneSlot(pair.qp);
      assertEquals(Status.TIMEOUT, pair.caller.submit(batch));
      assertEquals(QueuePairState.ERROR, pair.qp.state());
      assertEquals(Status.QP_ERROR, pair.caller.submit(batch));
      assertEquals(Status.QP_ERROR, pair.qp.poll(1));
    }
  }

  @Test
  void aBatchThatLanesReadCantBeChanged() {
    try (Pair pair = new Pair();
        CpuLanes lanes = CpuLanes.start(2);
        CpuLanes others = CpuLanes.start(1);
        Batch batch = Batch.of(pair.qp, pair.write(0, 8))) {
      abandonOneSlot(pair.qp);
      assertEquals(1, lanes.submit(batch));
      IllegalStateException e =
          assertThrows(IllegalStateException.class, () -> batch.length(0, 0, 4));
      assertTrue(e.getMessage().contains("still being read by " + lanes), e.getMessage());
      assertThrows(IllegalStateException.class, () -> others.submit(batch));
      pair.qp.close();
    }
  }

  @Test
  void aBatchClosedWhileLanesReadItIsFreedByThem() {
    try (Pair pair = new Pair(QueuePairOptions.builder().closeTimeout(SHORT));
        CpuLanes lanes = CpuLanes.start(2)) {
      Batch batch = Batch.of(pair.qp, pair.write(0, 8));
      abandonOneSlot(pair.qp);
      assertEquals(1, lanes.submit(batch));
      batch.close();
      pair.qp.close();
    }
  }

  @Test
  void closingTheQueuePairEndsTheLanesWait() {
    try (Pair pair = new Pair();
        CpuLanes lanes = CpuLanes.start(2);
        Batch batch = Batch.of(pair.qp, pair.write(0, 8))) {
      abandonOneSlot(pair.qp);
      assertEquals(1, lanes.submit(batch));
      pair.qp.close();
      // Freed, not quarantined: closing the initiator does not wait for the submit timeout either.
      assertTrue(lanes.idle(pair.qp.handle()));
    }
  }

  /** So that a submit is refused at once, where it would wait for its turn otherwise. */
  private static void fillUp(QueuePair qp) {
    Memory.at(qp.deviceHandle(), Layouts.SQ_RESV_HEAD + 8)
        .set(JAVA_LONG, Layouts.SQ_RESV_HEAD, qp.depth());
  }

  @Test
  void lanesThatAreStillClosingAreWaitedFor() {
    try (Pair pair = new Pair();
        CpuLanes lanes = CpuLanes.start(2);
        Batch batch = Batch.of(pair.qp, pair.write(0, 8));
        Batch other = Batch.of(pair.qp, pair.write(0, 8))) {
      abandonOneSlot(pair.qp);
      assertEquals(1, lanes.submit(batch));
      fillUp(pair.qp);
      Thread closing = Thread.ofPlatform().start(lanes::close);
      Await.until(lanes::isClosed);
      assertEquals(Status.FULL, pair.caller.submit(other));
      assertFalse(pair.qp.users().awaitUnused(Deadline.after(Duration.ZERO)));
      pair.qp.close();
      Await.until(() -> !closing.isAlive());
    }
  }

  @Test
  void anExclusiveQueuePairStaysWithAnInitiatorThatIsStillClosing() {
    QueuePairOptions exclusive = QueuePairOptions.builder().policy(SubmitPolicy.EXCLUSIVE).build();
    try (Pair pair = new Pair();
        QueuePair qp = pair.nic.queuePair(exclusive);
        QueuePair peer = pair.nic.queuePair(exclusive);
        CpuLanes lane = CpuLanes.start(1);
        Batch stuck = Batch.of(pair.qp, pair.write(0, 8));
        Batch batch = Batch.of(qp, new WorkRequest.Nop())) {
      Pair.connect(qp, peer);
      abandonOneSlot(pair.qp);
      assertEquals(1, lane.submit(stuck));
      assertEquals(0, lane.submit(batch));
      Thread closing = Thread.ofPlatform().start(lane::close);
      Await.until(lane::isClosed);
      assertThrows(IllegalStateException.class, () -> pair.caller.submit(batch));
      pair.qp.close();
      Await.until(() -> !closing.isAlive());
      assertEquals(1, pair.caller.submit(batch));
    }
  }

  @Test
  void resetEndsTheWaitAndStartsAfresh() throws InterruptedException {
    try (Pair pair = new Pair();
        CpuLanes lanes = CpuLanes.start(2);
        Batch batch = Batch.of(pair.qp, pair.write(0, 8))) {
      abandonOneSlot(pair.qp);
      assertEquals(1, lanes.submit(batch));
      pair.qp.reset();
      pair.peer.reset();
      Pair.connect(pair.qp, pair.peer);
      assertEquals(0, lanes.submit(batch));
      pair.qp.await(0, Pair.TIMEOUT);
    }
  }
}
