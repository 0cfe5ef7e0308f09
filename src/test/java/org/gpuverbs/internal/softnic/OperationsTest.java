// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import org.gpuverbs.internal.wire.Mlx5;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What each one-sided operation does to memory, and what its completion says. */
class OperationsTest {
  private final Pair pair = new Pair();
  private final Side a = pair.a;
  private final Side b = pair.b;
  private final Random random = new Random(7);

  @AfterEach
  void close() {
    pair.close();
  }

  private byte[] fresh(int length) {
    byte[] data = new byte[length];
    random.nextBytes(data);
    return data;
  }

  private void succeeded(Completion cqe, int opcode, long byteCount) {
    assertEquals(
        new Completion(
            Mlx5.CQE_REQ, 0, 0, cqe.wqeCounter(), a.qp.number(), opcode, byteCount, 0, false),
        cqe);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 7, 8, 9, 15, 16, 63, 64, 65, 100, 4096, 30000})
  void writeMovesItsBytes(int length) {
    byte[] data = fresh(length);
    a.fill(3, data);
    // Twice: the first fills the QP's caches, the second takes the fast path.
    for (int offset : new int[] {5, 31000}) {
      Completion cqe =
          a.execute(
              WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE)
                  .signalled()
                  .remote(b.mr, offset)
                  .data(a.mr, 3, length));
      succeeded(cqe, Mlx5.OPCODE_RDMA_WRITE, 0);
      assertArrayEquals(data, b.bytes(offset, length));
      assertEquals(0, b.bytes(offset + length, 1)[0]);
      assertEquals(0, b.bytes(offset - 1, 1)[0]);
    }
  }

  @Test
  void writeGathersThreeSegments() {
    byte[] data = fresh(60);
    a.fill(0, data);
    a.execute(
        WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE)
            .signalled()
            .remote(b.mr, 100)
            .data(a.mr, 0, 13)
            .data(a.mr, 13, 40)
            .data(a.mr, 53, 7));
    assertArrayEquals(data, b.bytes(100, 60));
  }

  @Test
  void writeOfNothingTouchesNothingAndNeedsNoKey() {
    Completion cqe =
        a.execute(WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).signalled().remote(0x1234, 0x77));
    succeeded(cqe, Mlx5.OPCODE_RDMA_WRITE, 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4, 8, 12, 13, 28, 29, 44, 100, 220})
  void inlineWriteMovesBytesFromTheRing(int length) {
    byte[] data = fresh(length);
    a.execute(WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).signalled().remote(b.mr, 9).inline(data));
    assertArrayEquals(data, b.bytes(9, length));
    assertEquals(0, b.bytes(9 + length, 1)[0]);
  }

  @Test
  void inlineAndDataSegmentsMix() {
    byte[] data = fresh(40);
    a.fill(0, data);
    a.execute(
        WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE)
            .signalled()
            .remote(b.mr, 0)
            .inline(new byte[] {1, 2, 3})
            .data(a.mr, 0, 40)
            .inline(new byte[] {4}));
    assertArrayEquals(new byte[] {1, 2, 3}, b.bytes(0, 3));
    assertArrayEquals(data, b.bytes(3, 40));
    assertEquals(4, b.bytes(43, 1)[0]);
  }

  @Test
  void readScattersOverThreeSegments() {
    byte[] data = fresh(60);
    b.fill(200, data);
    Completion cqe =
        a.execute(
            WqeBytes.of(Mlx5.OPCODE_RDMA_READ)
                .signalled()
                .remote(b.mr, 200)
                .data(a.mr, 1000, 8)
                .data(a.mr, 1008, 51)
                .data(a.mr, 1059, 1));
    succeeded(cqe, Mlx5.OPCODE_RDMA_READ, 60);
    assertArrayEquals(data, a.bytes(1000, 60));
  }

  @Test
  void readOfNothingSucceeds() {
    succeeded(
        a.execute(WqeBytes.of(Mlx5.OPCODE_RDMA_READ).signalled().remote(0, 0)),
        Mlx5.OPCODE_RDMA_READ,
        0);
  }

  @Test
  void fetchAddAddsAndReturnsTheOldValue() {
    b.word(64, 40);
    Completion cqe =
        a.execute(
            WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA)
                .signalled()
                .remote(b.mr, 64)
                .longs(2, 0)
                .data(a.mr, 8, 8));
    succeeded(cqe, Mlx5.OPCODE_ATOMIC_FA, 8);
    assertEquals(42, b.word(64));
    assertEquals(40, a.word(8));
  }

  @Test
  void compareSwapSwapsWhereEqual() {
    b.word(64, 5);
    a.execute(compareSwap(5, 77));
    assertEquals(77, b.word(64));
    assertEquals(5, a.word(8));
  }

  @Test
  void compareSwapLeavesMemoryWhereDifferent() {
    b.word(64, 6);
    a.execute(compareSwap(5, 77));
    assertEquals(6, b.word(64));
    assertEquals(6, a.word(8));
  }

  private WqeBytes compareSwap(long compare, long swap) {
    return WqeBytes.of(Mlx5.OPCODE_ATOMIC_CS)
        .signalled()
        .remote(b.mr, 64)
        .longs(swap, compare)
        .data(a.mr, 8, 8);
  }

  @Test
  void atomicResultMayBeScattered() {
    b.word(64, 0x0102030405060708L);
    a.execute(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA)
            .signalled()
            .remote(b.mr, 64)
            .longs(1, 0)
            .data(a.mr, 8, 3)
            .data(a.mr, 11, 5));
    assertEquals(0x0102030405060708L, a.word(8));
  }

  @Test
  void maskedFetchAddOfEightBytesKeepsFieldsApart() {
    b.word(64, 0x00ff_00ff_00ff_00ffL);
    a.execute(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_MASKED_FA)
            .opmod(Mlx5.OPMOD_MASKED_8_BYTES)
            .signalled()
            .remote(b.mr, 64)
            .longs(0x0001_0001_0001_0001L, 0x0080_0080_0080_0080L)
            .data(a.mr, 8, 8));
    // Each byte 0xff overflows inside its own field.
    assertEquals(0x0000_0000_0000_0000L, b.word(64));
    assertEquals(0x00ff_00ff_00ff_00ffL, a.word(8));
  }

  @Test
  void maskedFetchAddOfFourBytesLeavesTheNextFour() {
    b.word(64, 0x7777_7777_ffff_ffffL);
    a.word(8, -1);
    a.execute(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_MASKED_FA)
            .opmod(Mlx5.OPMOD_MASKED_4_BYTES)
            .signalled()
            .remote(b.mr, 64)
            .ints(3, 0)
            .longs(0)
            .data(a.mr, 8, 4));
    assertEquals(0x7777_7777_0000_0002L, b.word(64));
    assertEquals(0xffff_ffff_ffff_ffffL, a.word(8));
  }

  @Test
  void maskedCompareSwapOfEightBytesTakesTwoBlocks() {
    b.word(64, 0x1122_3344_5566_7788L);
    WqeBytes wqe =
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_MASKED_CS)
            .opmod(Mlx5.OPMOD_MASKED_8_BYTES)
            .signalled()
            .remote(b.mr, 64)
            .longs(0xaaaa_aaaa_aaaa_aaaaL, 0x9999_9999_9999_7788L)
            .longs(0xffff_0000_0000_0000L, 0xffffL)
            .data(a.mr, 8, 8);
    assertEquals(2, wqe.wqebbs());
    a.execute(wqe);
    assertEquals(0xaaaa_3344_5566_7788L, b.word(64));
    assertEquals(0x1122_3344_5566_7788L, a.word(8));
  }

  @Test
  void maskedCompareSwapOfFourBytesComparesUnderItsMask() {
    b.word(64, 0x1111_1111_5566_7788L);
    a.execute(maskedCompareSwap4(0x7789, 0xfffe));
    assertEquals(0x1111_1111_5566_bbbbL, b.word(64));
    a.execute(maskedCompareSwap4(0x7789, 0xffff));
    assertEquals(0x1111_1111_5566_bbbbL, b.word(64));
  }

  private WqeBytes maskedCompareSwap4(int compare, int compareMask) {
    return WqeBytes.of(Mlx5.OPCODE_ATOMIC_MASKED_CS)
        .opmod(Mlx5.OPMOD_MASKED_4_BYTES)
        .signalled()
        .remote(b.mr, 64)
        .ints(0xbbbb_bbbb, compare, 0xffff, compareMask)
        .data(a.mr, 8, 4);
  }

  @Test
  void nopCompletes() {
    succeeded(a.execute(WqeBytes.of(Mlx5.OPCODE_NOP).signalled()), Mlx5.OPCODE_NOP, 0);
  }

  @Test
  void dumpCompletesAndChangesNothing() {
    byte[] data = fresh(64);
    a.fill(0, data);
    succeeded(
        a.execute(WqeBytes.of(Mlx5.OPCODE_DUMP).signalled().data(a.mr, 0, 64)),
        Mlx5.OPCODE_DUMP,
        0);
    assertArrayEquals(data, a.bytes(0, 64));
  }

  @Test
  void fenceFlagsAreAccepted() {
    a.word(0, 9);
    a.execute(
        WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE)
            .signalled()
            .flags(0x80)
            .remote(b.mr, 0)
            .data(a.mr, 0, 8));
    assertEquals(9, b.word(0));
  }

  @Test
  void aQueuePairMayTalkToItself() {
    try (SoftNic nic = SoftNic.open(SoftNicConfig.defaults())) {
      Side loop = new Side(nic, pair.arena, false);
      loop.qp.connect(new SoftRemote(nic.guid(), loop.qp.number(), 5, 5));
      loop.word(0, 31);
      loop.receive(128, 8);
      loop.send(WqeBytes.of(Mlx5.OPCODE_SEND).data(loop.mr, 0, 8));
      loop.execute(
          WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).signalled().remote(loop.mr, 64).data(loop.mr, 0, 8));
      assertEquals(31, loop.word(64));
      assertEquals(31, loop.word(128));
    }
  }
}
