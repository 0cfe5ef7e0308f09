// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import org.gpuverbs.internal.wire.Mlx5;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The send ring: wrap at its end, wrap of the 16-bit index, WQEs of several blocks. */
class RingTest {
  private final Pair pair = new Pair();
  private final Side a = pair.a;
  private final Side b = pair.b;

  @AfterEach
  void close() {
    pair.close();
  }

  private WqeBytes write(int from, int to, int length) {
    return WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).remote(b.mr, to).data(a.mr, from, length);
  }

  private void nops(int count) {
    for (int i = 0; i < count; i++) {
      long index = a.post(WqeBytes.of(Mlx5.OPCODE_NOP).signalled());
      if (i % 16 == 15 || i == count - 1) {
        a.ring();
        a.await(index);
      }
    }
  }

  @Test
  void aWqeOfTwoBlocksWrapsAtTheRingsEnd() {
    nops(Side.DEPTH - 1);
    byte[] data = new byte[90];
    new Random(1).nextBytes(data);
    a.fill(0, data);
    WqeBytes wqe = write(0, 500, 30).data(a.mr, 30, 30).data(a.mr, 60, 30).signalled();
    assertEquals(2, wqe.wqebbs());
    Completion cqe = a.execute(wqe);
    assertEquals(Mlx5.CQE_REQ, cqe.opcode());
    // The counter names the first block.
    assertEquals(Side.DEPTH - 1, cqe.wqeCounter());
    assertArrayEquals(data, b.bytes(500, 90));
  }

  @Test
  void inlineDataWrapsAtTheRingsEnd() {
    for (int before = 1; before <= 4; before++) {
      a.reset();
      b.reset();
      pair.connect();
      nops(Side.DEPTH - before);
      byte[] data = new byte[300];
      new Random(before).nextBytes(data);
      WqeBytes wqe = WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).signalled().remote(b.mr, 1).inline(data);
      assertEquals(6, wqe.wqebbs());
      assertEquals(Mlx5.CQE_REQ, a.execute(wqe).opcode());
      assertArrayEquals(data, b.bytes(1, 300));
    }
  }

  @Test
  void theLargestWqeIsExecuted() {
    // 63 units: control, remote address, 61 data segments.
    byte[] data = new byte[61 * 3];
    new Random(5).nextBytes(data);
    a.fill(0, data);
    WqeBytes wqe = WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).signalled().remote(b.mr, 0);
    for (int i = 0; i < 61; i++) {
      wqe.data(a.mr, 3L * i, 3);
    }
    assertEquals(Mlx5.CQE_REQ, a.execute(wqe).opcode());
    assertArrayEquals(data, b.bytes(0, data.length));
  }

  @Test
  void theSixteenBitIndexWrapsWithEveryWqeExecutedOnce() {
    int wqes = 200_003;
    for (int i = 0; i < wqes; i++) {
      boolean last = i == wqes - 1 || i % 32 == 31;
      WqeBytes wqe =
          WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA)
              .remote(b.mr, 0)
              .longs(1, 0)
              .data(a.mr, 8L * (i % 1000), 8);
      long index = a.post(last ? wqe.signalled() : wqe);
      if (last) {
        a.ring();
        assertEquals(index & 0xffff, a.await(index).wqeCounter());
      }
    }
    assertEquals(wqes, b.word(0));
    assertEquals(wqes - 1, a.word(8L * ((wqes - 1) % 1000)));
  }

  @Test
  void theFastPathWrapsWithEveryWqeExecutedOnce() {
    // Each WRITE takes the value before it, so one that is lost or repeated shows.
    int rounds = 70_000;
    for (int i = 0; i < rounds; i++) {
      a.word(8L * (i % 16), i);
      WqeBytes wqe = write(8 * (i % 16), 8 * (i % 512), 8);
      long index = a.post(i % 16 == 15 ? wqe.signalled() : wqe);
      if (i % 16 == 15) {
        a.ring();
        a.await(index);
        for (int k = i - 15; k <= i; k++) {
          assertEquals(k, b.word(8L * (k % 512)));
        }
      }
    }
    assertEquals(rounds, a.qp.wqes());
    assertEquals(8L * rounds, a.qp.bytes());
  }

  @Test
  void messagesAreExecutedInOrder() {
    // The same eight bytes, written from different places: the last one stays.
    for (int i = 0; i < 60; i++) {
      a.word(8L * i, 100 + i);
      WqeBytes wqe =
          i % 3 == 0
              ? WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).remote(b.mr, 0).inline(new byte[8])
              : write(8 * i, 0, 8);
      a.post(i == 59 ? wqe.signalled() : wqe);
    }
    a.ring();
    a.await(59);
    assertEquals(159, b.word(0));
  }
}
