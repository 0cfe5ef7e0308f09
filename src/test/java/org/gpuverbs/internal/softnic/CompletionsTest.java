// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Send completions, collapsed and full. */
class CompletionsTest {
  private Pair pair = new Pair();

  @AfterEach
  void close() {
    pair.close();
  }

  private void full() {
    pair.close();
    pair = new Pair(SoftNicConfig.defaults(), true);
  }

  private WqeBytes nop() {
    return WqeBytes.of(Mlx5.OPCODE_NOP);
  }

  private WqeBytes bad() {
    return WqeBytes.of(0x3f);
  }

  @Test
  void unsignalledWqesWriteNoCqe() {
    pair.a.send(nop());
    Await.until("the WQE to be consumed", () -> pair.a.qp.wqes() == 1);
    assertEquals(Mlx5.CQE_INVALID, Completion.read(pair.a.memory.cqe, 0).opcode());
    assertEquals(0, pair.a.qp.cqes());
  }

  @Test
  void theCollapsedCqeNamesTheLastSignalledWqe() {
    for (int i = 0; i < 20; i++) {
      pair.a.post(i % 5 == 2 ? nop().signalled() : nop());
    }
    pair.a.ring();
    Await.until("the WQEs to be consumed", () -> pair.a.qp.wqes() == 20);
    assertEquals(17, pair.a.await(17).wqeCounter());
    assertTrue(pair.a.qp.cqes() <= 4);
  }

  @Test
  void anUnsignalledErrorStillCompletes() {
    pair.a.send(bad());
    assertEquals(Syndrome.LOCAL_QP_OPERATION, pair.a.await(0).syndrome());
  }

  @Test
  void theFirstErrorStaysInACollapsedCqe() {
    pair.a.post(nop().signalled());
    long index = pair.a.post(bad());
    for (int i = 0; i < 10; i++) {
      pair.a.post(nop().signalled());
    }
    pair.a.ring();
    Await.until("everything to be flushed", () -> pair.a.qp.wqes() == 12);
    // And what is posted afterwards.
    pair.a.send(nop().signalled());
    Await.until("that to be flushed too", () -> pair.a.qp.wqes() == 13);
    pair.a.qp.fail();
    Completion cqe = Completion.read(pair.a.memory.cqe, 0);
    assertEquals(Mlx5.CQE_REQ_ERR, cqe.opcode());
    assertEquals(Syndrome.LOCAL_QP_OPERATION, cqe.syndrome());
    assertEquals(index, cqe.wqeCounter());
    assertEquals(1, pair.a.qp.cqes());
  }

  @Test
  void aCollapsedCqeNamesTheFirstFlushedWqeWhereNoneFailed() {
    pair.a.qp.fail();
    pair.a.post(nop());
    pair.a.post(nop().signalled());
    pair.a.ring();
    Await.until("everything to be flushed", () -> pair.a.qp.wqes() == 2);
    Completion cqe = Completion.read(pair.a.memory.cqe, 0);
    assertEquals(Syndrome.FLUSHED, cqe.syndrome());
    assertEquals(0, cqe.wqeCounter());
  }

  @Test
  void everySignalledWqeHasItsCqeInAFullQueue() {
    full();
    for (int lap = 0; lap < 9; lap++) {
      long first = pair.a.pi;
      for (int i = 0; i < 50; i++) {
        pair.a.post(nop().signalled());
      }
      pair.a.ring();
      for (int i = 0; i < 50; i++) {
        Completion cqe = pair.a.sendCq.take();
        assertEquals(Mlx5.CQE_REQ, cqe.opcode());
        assertEquals(first + i, cqe.wqeCounter());
        assertEquals(pair.a.qp.number(), cqe.qpn());
      }
      assertFalse(pair.a.sendCq.ready());
    }
  }

  @Test
  void everyWriteHasItsCqeInAFullQueue() {
    full();
    for (int i = 0; i < 60; i++) {
      pair.a.post(
          WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE)
              .signalled()
              .remote(pair.b.mr, 8L * i)
              .data(pair.a.mr, 0, 8));
    }
    pair.a.ring();
    for (int i = 0; i < 60; i++) {
      assertEquals(i, pair.a.sendCq.take().wqeCounter());
    }
  }

  @Test
  void aFullQueueTellsBytesReadAndFetched() {
    full();
    pair.a.send(
        WqeBytes.of(Mlx5.OPCODE_RDMA_READ)
            .signalled()
            .remote(pair.b.mr, 0)
            .data(pair.a.mr, 0, 100));
    pair.a.send(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA)
            .signalled()
            .remote(pair.b.mr, 0)
            .longs(1, 0)
            .data(pair.a.mr, 0, 8));
    Completion read = pair.a.sendCq.take();
    assertEquals(Mlx5.OPCODE_RDMA_READ, read.sendOpcode());
    assertEquals(100, read.byteCount());
    assertEquals(8, pair.a.sendCq.take().byteCount());
  }

  @Test
  void aFullQueueFlushesEveryWqeInOrder() {
    full();
    pair.a.post(nop().signalled());
    pair.a.post(bad());
    long[] flushed = new long[5];
    for (int i = 0; i < flushed.length; i++) {
      // Unsignalled ones and those of several blocks as well.
      flushed[i] = pair.a.post(i == 2 ? WqeBytes.of(0).inline(new byte[100]) : nop());
    }
    pair.a.ring();
    assertEquals(Mlx5.CQE_REQ, pair.a.sendCq.take().opcode());
    assertEquals(Syndrome.LOCAL_QP_OPERATION, pair.a.sendCq.take().syndrome());
    for (long index : flushed) {
      Completion cqe = pair.a.sendCq.take();
      assertEquals(Mlx5.CQE_REQ_ERR, cqe.opcode());
      assertEquals(Syndrome.FLUSHED, cqe.syndrome());
      assertEquals(index, cqe.wqeCounter());
    }
    assertFalse(pair.a.sendCq.ready());
  }

  @Test
  void failFlushesSendsThatWait() {
    full();
    pair.b.qp.reset();
    long index =
        pair.a.send(WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).remote(pair.b.mr, 0).data(pair.a.mr, 0, 8));
    Await.until("the write to stall", () -> pair.a.qp.retryStalls() == 1);
    pair.a.qp.fail();
    assertTrue(pair.a.sendCq.ready());
    Completion cqe = pair.a.sendCq.take();
    assertEquals(Syndrome.FLUSHED, cqe.syndrome());
    assertEquals(index, cqe.wqeCounter());
  }

  @Test
  void failFlushesReceives() {
    pair.a.receive(0, 8);
    pair.a.receive(8, 8);
    pair.a.qp.fail();
    for (int i = 0; i < 2; i++) {
      assertTrue(pair.a.receiveCq.ready());
      Completion cqe = pair.a.receiveCq.take();
      assertEquals(Mlx5.CQE_RESP_ERR, cqe.opcode());
      assertEquals(Syndrome.FLUSHED, cqe.syndrome());
      assertEquals(i, cqe.wqeCounter());
    }
  }

  @Test
  void twoQueuePairsShareACompletionQueue() {
    full();
    Side other = new Side(pair.nicA, pair.arena, Side.DEPTH, 0, pair.a.sendCq);
    other.qp.connect(new SoftRemote(pair.nicB.guid(), 2, 0, 0));
    pair.a.send(nop().signalled());
    assertEquals(pair.a.qp.number(), pair.a.sendCq.take().qpn());
    other.send(nop().signalled());
    assertEquals(other.qp.number(), pair.a.sendCq.take().qpn());
  }

  /** State of a QP after six signalled WQEs into this CQ. */
  private SoftState sixInto(SoftCq cq) {
    QueueMemory memory = new QueueMemory(pair.arena, Side.DEPTH, 0);
    SoftQp qp = pair.nicA.createQp(memory.attr(cq, null));
    qp.connect(new SoftRemote(pair.nicB.guid(), 2, 0, 0));
    for (int i = 0; i < 6; i++) {
      nop().signalled().writeTo(memory.ring, Side.DEPTH, i, qp.number());
    }
    memory.dbr.set(ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), Mlx5.DBR_SEND, 6);
    Side.doorbellWord(memory.doorbell, (long) qp.number() << 8);
    Await.until("six WQEs to be consumed", () -> qp.wqes() == 6);
    return qp.state();
  }

  @Test
  void anOverrunIsFlaggedAndEndsTheQueuePair() {
    MemorySegment ring = pair.arena.allocate(4 * 64, 64).fill((byte) 0xff);
    SoftCq cq = pair.nicA.createCq(ring, 4);
    SoftState state = sixInto(cq);
    assertTrue(cq.overflowed());
    assertEquals(SoftState.ERROR, state);
    // The four that were there are untouched.
    for (int i = 0; i < 4; i++) {
      assertEquals(i, Completion.read(ring, 64L * i).wqeCounter());
    }
  }

  @Test
  void anOverrunMayBeIgnored() {
    MemorySegment ring = pair.arena.allocate(4 * 64, 64).fill((byte) 0xff);
    SoftCq cq = pair.nicA.createCq(ring, 4, null, true);
    SoftState state = sixInto(cq);
    assertFalse(cq.overflowed());
    assertEquals(SoftState.READY, state);
    assertEquals(4, Completion.read(ring, 0).wqeCounter());
  }

  @Test
  void aConsumersDoorbellRecordMakesRoom() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment dbr = arena.allocate(4, 4);
      dbr.set(ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 0, 2);
      MemorySegment ring = pair.arena.allocate(4 * 64, 64).fill((byte) 0xff);
      SoftCq cq = pair.nicA.createCq(ring, 4, dbr, false);
      SoftState state = sixInto(cq);
      assertFalse(cq.overflowed());
      assertEquals(SoftState.READY, state);
    }
  }
}
