// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.gpuverbs.internal.wire.Mlx5;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Doorbell words and the doorbell record: what makes the NIC look, and at how much. */
class DoorbellTest {
  private static final ValueLayout.OfLong BE64 =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt BE32 =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

  private Pair pair = pair(DoorbellRule.STRICT);

  @AfterEach
  void close() {
    pair.close();
  }

  private static Pair pair(DoorbellRule rule) {
    return new Pair(SoftNicConfig.defaults().withDoorbells(rule), false);
  }

  private long nop(Side side) {
    return side.post(WqeBytes.of(Mlx5.OPCODE_NOP).signalled());
  }

  /**
   * Whatever one side had rung before is done when another QP of the same thread has been served
   * twice.
   */
  private void letTheNicThreadGoRound() {
    Side other = new Side(pair.nicA, pair.arena, false);
    Pair.connect(other, new Side(pair.nicB, pair.arena, false));
    for (int i = 0; i < 3; i++) {
      long index = nop(other);
      other.ring();
      other.await(index);
    }
  }

  @Test
  void theLibrarysTestsRunWithStrictDoorbells() {
    assertEquals(DoorbellRule.STRICT, SoftNicConfig.defaults().doorbells());
  }

  @Test
  void aWordWithTheProducerIndexIsADoorbell() {
    long index = nop(pair.a);
    pair.a.writeDbr();
    pair.a.writeDoorbell((pair.a.pi & 0xffff) << 40 | (long) pair.a.qp.number() << 8);
    assertEquals(Mlx5.CQE_REQ, pair.a.await(index).opcode());
  }

  @Test
  void theFirstEightBytesOfAWqeAreADoorbell() {
    nop(pair.a);
    long index = nop(pair.a);
    pair.a.writeDbr();
    pair.a.writeDoorbell(pair.a.memory.ring.get(BE64, 64 * index));
    assertEquals(Mlx5.CQE_REQ, pair.a.await(index).opcode());
  }

  @Test
  void theRecordCountsAndNotTheWord() {
    nop(pair.a);
    nop(pair.a);
    long index = nop(pair.a);
    pair.a.writeDbr();
    // An old word, rung again after the record went on.
    pair.a.writeDoorbell(1L << 40 | (long) pair.a.qp.number() << 8);
    assertEquals(index, pair.a.await(index).wqeCounter());
  }

  @Test
  void aLostDoorbellIsALostWqe() {
    long index = nop(pair.a);
    pair.a.writeDbr();
    letTheNicThreadGoRound();
    assertFalse(pair.a.completed(index));
    assertEquals(0, pair.a.qp.wqes());
  }

  @Test
  void theNextDoorbellCoversALostOne() {
    long lost = nop(pair.a);
    pair.a.writeDbr();
    letTheNicThreadGoRound();
    long index = nop(pair.a);
    pair.a.ring();
    pair.a.await(index);
    assertEquals(2, pair.a.qp.wqes());
    assertEquals(1, index - lost);
  }

  @ParameterizedTest
  @EnumSource(
      value = DoorbellRule.class,
      names = {"LOOKS_AGAIN", "POLLED"})
  void aRecordWhoseDoorbellWasOverwrittenIsFoundWithoutAnother(DoorbellRule rule) {
    pair.close();
    pair = pair(rule);
    nop(pair.a);
    pair.a.ring();
    long index = nop(pair.a);
    pair.a.writeDbr();
    assertEquals(Mlx5.CQE_REQ, pair.a.await(index).opcode());
    assertEquals(2, pair.a.qp.wqes());
  }

  @Test
  void theRecordIsLookedAtAgainWhileOthersKeepTheNicThreadBusy() {
    pair.close();
    pair = pair(DoorbellRule.LOOKS_AGAIN);
    Side busy = new Side(pair.nicA, pair.arena, false);
    Pair.connect(busy, new Side(pair.nicB, pair.arena, false));
    long index = nop(pair.a);
    pair.a.writeDbr();
    Await.until(
        "the record to be looked at",
        () -> {
          // Never idle for as long as a rest takes.
          long other = nop(busy);
          busy.ring();
          busy.await(other);
          return pair.a.completed(index);
        });
  }

  @Test
  void aDoorbellWithoutANewRecordDoesNothing() {
    long index = nop(pair.a);
    pair.a.ring();
    pair.a.await(index);
    for (int i = 0; i < 3; i++) {
      long taken = pair.a.qp.doorbells();
      pair.a.writeDoorbell(pair.a.doorbell());
      Await.until("the doorbell to be taken", () -> pair.a.qp.doorbells() == taken + 1);
    }
    assertEquals(1, pair.a.qp.wqes());
    assertEquals(1, pair.a.qp.cqes());
  }

  @Test
  void aRecordThatGoesBackDoesNothing() {
    for (int i = 0; i < 4; i++) {
      nop(pair.a);
    }
    pair.a.ring();
    pair.a.await(3);
    pair.a.memory.dbr.set(BE32, Mlx5.DBR_SEND, 2);
    long taken = pair.a.qp.doorbells();
    pair.a.writeDoorbell(pair.a.doorbell());
    Await.until("the doorbell to be taken", () -> pair.a.qp.doorbells() == taken + 1);
    assertEquals(4, pair.a.qp.wqes());
    assertEquals(SoftState.READY, pair.a.qp.state());
    long index = nop(pair.a);
    pair.a.ring();
    assertEquals(Mlx5.CQE_REQ, pair.a.await(index).opcode());
  }

  @Test
  void aWordForAnotherQueuePairIsIgnored() {
    long index = nop(pair.a);
    pair.a.writeDbr();
    pair.a.writeDoorbell(1L << 40 | (long) (pair.a.qp.number() ^ 1) << 8);
    Await.until("the doorbell to be taken", () -> pair.a.qp.strayDoorbells() == 1);
    assertFalse(pair.a.completed(index));
    assertEquals(0, pair.a.qp.doorbells());
  }

  @Test
  void theDoorbellIsClearedWhenItIsTaken() {
    long index = nop(pair.a);
    pair.a.ring();
    pair.a.await(index);
    assertEquals(0, pair.a.memory.doorbell.get(ValueLayout.JAVA_LONG, 0));
  }

  @Test
  void aDoorbellAfterALongRestIsTaken() {
    long index = nop(pair.a);
    pair.a.ring();
    pair.a.await(index);
    // Long enough for the NIC thread to park many times.
    long until = System.nanoTime() + 200_000_000L;
    Await.until("the rest to be over", () -> System.nanoTime() - until >= 0);
    long next = nop(pair.a);
    pair.a.ring();
    assertEquals(Mlx5.CQE_REQ, pair.a.await(next).opcode());
  }
}
