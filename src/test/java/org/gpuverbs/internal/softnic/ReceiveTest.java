// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.foreign.Arena;
import java.time.Duration;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Two-sided operations: which receive they take, what both sides are told, and "receiver not
 * ready".
 */
class ReceiveTest {
  private final Pair pair =
      new Pair(SoftNicConfig.defaults().withRnrTimer(Duration.ofMillis(2)), Side.DEPTH, Side.DEPTH);
  private final Side a = pair.a;
  private final Side b = pair.b;

  @AfterEach
  void close() {
    pair.close();
  }

  private WqeBytes send(int length) {
    return WqeBytes.of(Mlx5.OPCODE_SEND).signalled().data(a.mr, 0, length);
  }

  private void received(int opcode, long index, long bytes, int immediate, boolean solicited) {
    assertEquals(
        new Completion(opcode, 0, 0, (int) index, b.qp.number(), 0, bytes, immediate, solicited),
        b.receiveCq.take());
  }

  @Test
  void aSendLandsInTheOldestReceive() {
    pair.connect();
    b.receive(100, 64);
    b.receive(200, 64);
    a.fill(0, new byte[] {1, 2, 3});
    a.execute(send(3));
    received(Mlx5.CQE_RESP_SEND, 0, 3, 0, false);
    assertArrayEquals(new byte[] {1, 2, 3, 0}, b.bytes(100, 4));
    a.execute(send(2));
    received(Mlx5.CQE_RESP_SEND, 1, 2, 0, false);
    assertArrayEquals(new byte[] {1, 2, 0}, b.bytes(200, 3));
  }

  @Test
  void aSendScattersOverFourSegments() {
    pair.connect();
    b.receive(0, 3, 100, 5, 200, 1, 300, 64);
    byte[] data = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    a.fill(0, data);
    a.execute(WqeBytes.of(Mlx5.OPCODE_SEND).signalled().data(a.mr, 0, 4).data(a.mr, 4, 7));
    received(Mlx5.CQE_RESP_SEND, 0, 11, 0, false);
    assertArrayEquals(new byte[] {1, 2, 3, 0}, b.bytes(0, 4));
    assertArrayEquals(new byte[] {4, 5, 6, 7, 8, 0}, b.bytes(100, 6));
    assertArrayEquals(new byte[] {9, 0}, b.bytes(200, 2));
    assertArrayEquals(new byte[] {10, 11, 0}, b.bytes(300, 3));
  }

  @Test
  void aSendMayBeInline() {
    pair.connect();
    b.receive(0, 8);
    a.execute(WqeBytes.of(Mlx5.OPCODE_SEND).signalled().inline(new byte[] {5, 6}));
    received(Mlx5.CQE_RESP_SEND, 0, 2, 0, false);
    assertArrayEquals(new byte[] {5, 6, 0}, b.bytes(0, 3));
  }

  @Test
  void aSendOfNothingTakesAReceiveOfNothing() {
    pair.connect();
    b.receive();
    a.execute(WqeBytes.of(Mlx5.OPCODE_SEND).signalled());
    received(Mlx5.CQE_RESP_SEND, 0, 0, 0, false);
  }

  @Test
  void aSendCarriesAnImmediateAndTheSolicitedBit() {
    pair.connect();
    b.receive(0, 8);
    a.execute(
        WqeBytes.of(Mlx5.OPCODE_SEND_IMM)
            .signalled()
            .solicited()
            .immediate(0xdead_beef)
            .data(a.mr, 0, 8));
    received(Mlx5.CQE_RESP_SEND_IMM, 0, 8, 0xdead_beef, true);
  }

  @Test
  void aWriteWithImmediateTakesAReceiveWithoutTouchingItsBuffer() {
    pair.connect();
    b.receive(100, 8);
    a.word(0, 77);
    a.execute(
        WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE_IMM)
            .signalled()
            .immediate(42)
            .remote(b.mr, 0)
            .data(a.mr, 0, 8));
    received(Mlx5.CQE_RESP_WR_IMM, 0, 8, 42, false);
    assertEquals(77, b.word(0));
    assertArrayEquals(new byte[8], b.bytes(100, 8));
  }

  @Test
  void aWriteOfNothingWithImmediateTakesAnEmptyReceive() {
    pair.connect();
    b.receive();
    a.execute(WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE_IMM).signalled().immediate(-1).remote(0, 0));
    received(Mlx5.CQE_RESP_WR_IMM, 0, 0, -1, false);
  }

  @Test
  void aSendWaitsUntilAReceiveIsPosted() {
    pair.connect();
    long index = a.send(send(8));
    Await.until("the send to stall", () -> a.qp.rnrStalls() == 1);
    assertFalse(a.completed(index));
    b.receive(0, 8);
    assertEquals(Mlx5.CQE_REQ, a.await(index).opcode());
  }

  @Test
  void aWriteWithImmediateWaitsBeforeItWrites() {
    pair.connect();
    a.word(0, 1);
    long index =
        a.send(
            WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE_IMM).signalled().remote(b.mr, 0).data(a.mr, 0, 8));
    Await.until("the write to stall", () -> a.qp.rnrStalls() == 1);
    assertEquals(0, b.word(0));
    b.receive();
    a.await(index);
    assertEquals(1, b.word(0));
  }

  @Test
  void withoutReceivesTheRetriesEnd() {
    pair.connect(7, 1, Duration.ofSeconds(1));
    notReady(a.execute(send(8)));
  }

  @Test
  void withoutRetriesTheFirstRefusalEnds() {
    pair.connect(7, 0, Duration.ofSeconds(1));
    notReady(a.execute(send(8)));
  }

  private void notReady(Completion cqe) {
    assertEquals(Mlx5.CQE_REQ_ERR, cqe.opcode());
    assertEquals(Syndrome.RNR_RETRY_EXCEEDED, cqe.syndrome());
    assertEquals(SoftState.ERROR, a.qp.state());
    assertEquals(SoftState.READY, b.qp.state());
  }

  @Test
  void eachStallHasItsOwnRetries() {
    pair.connect(7, 6, Duration.ofSeconds(1));
    for (int i = 0; i < 20; i++) {
      long stalls = a.qp.rnrStalls();
      long index = a.send(send(8));
      Await.until("the send to stall", () -> a.qp.rnrStalls() == stalls + 1);
      b.receive(0, 8);
      assertEquals(Mlx5.CQE_REQ, a.await(index).opcode());
    }
  }

  @Test
  void aMessageLongerThanItsReceiveFailsBothSides() {
    pair.connect();
    b.receive(0, 7);
    b.receive(0, 64);
    refused(send(8), Syndrome.REMOTE_INVALID_REQUEST);
    failed(Syndrome.LOCAL_LENGTH, VendorSyndrome.RECEIVE_TOO_SHORT, 0);
    failed(Syndrome.FLUSHED, 0, 1);
  }

  @Test
  void anUnknownKeyInAReceiveFailsBothSides() {
    pair.connect();
    b.receive(new long[] {b.mr.address()}, new int[] {8}, new int[] {b.mr.lkey() + 1});
    refused(send(8), Syndrome.REMOTE_OPERATION);
    failed(Syndrome.LOCAL_PROTECTION, VendorSyndrome.KEY, 0);
  }

  @Test
  void aReceiveOutsideItsRegionFailsBothSides() {
    pair.connect();
    b.receive(Side.BUFFER - 4, 8);
    refused(send(8), Syndrome.REMOTE_OPERATION);
    failed(Syndrome.LOCAL_PROTECTION, VendorSyndrome.BOUNDS, 0);
  }

  @Test
  void aReceiveIntoReadOnlyMemoryFailsBothSides() {
    pair.connect();
    SoftMr mr = b.nic.register(b.buffer.asReadOnly(), 0);
    b.receive(new long[] {mr.address()}, new int[] {8}, new int[] {mr.lkey()});
    refused(send(8), Syndrome.REMOTE_OPERATION);
    failed(Syndrome.LOCAL_PROTECTION, VendorSyndrome.PERMISSION, 0);
  }

  @Test
  void aReceiveIntoAClosedArenaFailsBothSides() {
    pair.connect();
    SoftMr mr;
    try (Arena arena = Arena.ofShared()) {
      mr = b.nic.register(arena.allocate(64), SoftMr.LOCAL_WRITE);
    }
    b.receive(new long[] {mr.address()}, new int[] {8}, new int[] {mr.lkey()});
    refused(send(8), Syndrome.REMOTE_OPERATION);
    failed(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_CLOSED, 0);
  }

  @Test
  void aReceiveIndexMoreThanTheRingAheadFailsBothSides() {
    pair.connect();
    b.receivePi = Side.DEPTH;
    b.receive(0, 8);
    refused(send(8), Syndrome.REMOTE_OPERATION);
    failed(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.QUEUE_OVERRUN, 0);
  }

  private void refused(WqeBytes wqe, int syndrome) {
    Completion cqe = a.execute(wqe);
    assertEquals(Mlx5.CQE_REQ_ERR, cqe.opcode());
    assertEquals(Syndrome.name(syndrome), Syndrome.name(cqe.syndrome()));
    assertEquals(SoftState.ERROR, b.qp.state());
  }

  private void failed(int syndrome, int vendor, int index) {
    Completion cqe = b.receiveCq.take();
    assertEquals(Mlx5.CQE_RESP_ERR, cqe.opcode());
    assertEquals(Syndrome.name(syndrome), Syndrome.name(cqe.syndrome()));
    assertEquals(vendor, cqe.vendor());
    assertEquals(index, cqe.wqeCounter());
    assertEquals(b.qp.number(), cqe.qpn());
  }

  @Test
  void receivesPostedAfterAnErrorAreFlushed() {
    pair.connect();
    b.qp.fail();
    b.receive(0, 8);
    failed(Syndrome.FLUSHED, 0, 0);
    b.receive(0, 8);
    failed(Syndrome.FLUSHED, 0, 1);
  }

  @Test
  void receivesWrapRoundTheirRingAndItsSixteenBitIndex() {
    pair.connect();
    for (int i = 0; i < 66_000; i++) {
      b.receive(i % 100, 8);
      a.word(0, i);
      long index = a.send(i % 32 == 31 ? send(8) : WqeBytes.of(Mlx5.OPCODE_SEND).data(a.mr, 0, 8));
      received(Mlx5.CQE_RESP_SEND, i & 0xffff, 8, 0, false);
      if (i % 32 == 31) {
        a.await(index);
      }
    }
    assertEquals(66_000, b.qp.receives());
  }

  @Test
  void aFullReceiveQueueCompletionRingEndsBothSides() {
    Side small = new Side(pair.nicB, pair.arena, Side.DEPTH, 4, null);
    Pair.connect(a, small);
    // The CQ has 8 places; nobody takes anything.
    for (int i = 0; i < 8; i++) {
      small.receive(0, 8);
      a.execute(send(8));
    }
    small.receive(0, 8);
    Completion cqe = a.execute(send(8));
    assertEquals(Syndrome.REMOTE_OPERATION, cqe.syndrome());
    assertEquals(VendorSyndrome.CQ_OVERRUN, cqe.vendor());
    assertEquals(true, small.receiveCq.cq.overflowed());
  }
}
