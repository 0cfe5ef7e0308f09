// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.util.function.Consumer;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the requester refuses by itself: syndromes 0x01, 0x02 and 0x04. */
class LocalErrorsTest {
  private final Pair pair = new Pair(SoftNicConfig.defaults().withMaxMessageBytes(4096), false);
  private final Side a = pair.a;
  private final Side b = pair.b;

  @AfterEach
  void close() {
    pair.close();
  }

  private void refused(WqeBytes wqe, int syndrome, int vendor) {
    long index = a.send(wqe);
    Completion cqe = a.await(index);
    assertEquals(Mlx5.CQE_REQ_ERR, cqe.opcode());
    assertEquals(Syndrome.name(syndrome), Syndrome.name(cqe.syndrome()));
    assertEquals(VendorSyndrome.name(vendor), VendorSyndrome.name(cqe.vendor()));
    assertEquals(index, cqe.wqeCounter());
    assertEquals(a.qp.number(), cqe.qpn());
    assertEquals(SoftState.ERROR, a.qp.state());
    // The peer never heard of it.
    assertEquals(SoftState.READY, b.qp.state());
  }

  private WqeBytes write() {
    return WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).remote(b.mr, 0);
  }

  @Test
  void aMessageAboveTheMaximumIsALocalLengthError() {
    refused(
        write().data(a.mr, 0, 4096).data(a.mr, 0, 1),
        Syndrome.LOCAL_LENGTH,
        VendorSyndrome.MESSAGE_TOO_LONG);
  }

  @Test
  void theFastPathRefusesAMessageAboveTheMaximumToo() {
    a.execute(write().signalled().data(a.mr, 0, 4096));
    refused(write().data(a.mr, 0, 4097), Syndrome.LOCAL_LENGTH, VendorSyndrome.MESSAGE_TOO_LONG);
  }

  @Test
  void anAtomicWithAShortResultIsALocalLengthError() {
    refused(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA).remote(b.mr, 0).longs(1, 0).data(a.mr, 0, 4),
        Syndrome.LOCAL_LENGTH,
        VendorSyndrome.RESULT_LENGTH);
    assertEquals(0, b.word(0));
  }

  @Test
  void anAtomicWithoutAResultIsALocalLengthError() {
    refused(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA).remote(b.mr, 0).longs(1, 0),
        Syndrome.LOCAL_LENGTH,
        VendorSyndrome.RESULT_LENGTH);
  }

  @Test
  void anotherIndexIsAnOperationError() {
    operation(write().data(a.mr, 0, 8).indexOffset(1), VendorSyndrome.WQE_INDEX);
  }

  @Test
  void anotherQueuePairsWqeIsAnOperationError() {
    operation(write().data(a.mr, 0, 8).qpnOffset(1), VendorSyndrome.WQE_QP_NUMBER);
  }

  @Test
  void theFastPathSeesAnotherIndexToo() {
    a.execute(write().signalled().data(a.mr, 0, 8));
    operation(write().data(a.mr, 0, 8).indexOffset(-1), VendorSyndrome.WQE_INDEX);
  }

  @Test
  void aSizePastTheProducerIndexIsAnOperationError() {
    operation(write().data(a.mr, 0, 8).ds(5), VendorSyndrome.WQE_SIZE);
  }

  @Test
  void aSizeAboveTheDevicesIsAnOperationError() {
    operation(write().data(a.mr, 0, 8).ds(64), VendorSyndrome.WQE_SIZE);
  }

  @Test
  void aRingOfZeroesIsAnOperationError() {
    a.post(write().data(a.mr, 0, 8));
    a.memory.ring.asSlice(0, 64).fill((byte) 0);
    a.ring();
    Completion cqe = a.await(0);
    assertEquals(Syndrome.LOCAL_QP_OPERATION, cqe.syndrome());
  }

  @Test
  void anUnknownOpcodeIsAnOperationError() {
    operation(WqeBytes.of(0x0f).data(a.mr, 0, 8), VendorSyndrome.WQE_OPCODE);
  }

  @Test
  void aModifierOnAWriteIsAnOperationError() {
    operation(write().opmod(1).data(a.mr, 0, 8), VendorSyndrome.WQE_OPCODE);
  }

  @Test
  void aMaskedAtomicOfAnotherSizeIsAnOperationError() {
    operation(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_MASKED_FA)
            .opmod(0x0a)
            .remote(b.mr, 0)
            .longs(1, 0)
            .data(a.mr, 0, 8),
        VendorSyndrome.WQE_OPCODE);
  }

  @Test
  void aWriteWithoutARemoteAddressIsAnOperationError() {
    operation(WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE), VendorSyndrome.WQE_SEGMENTS);
  }

  @Test
  void anAtomicWithoutOperandsIsAnOperationError() {
    operation(WqeBytes.of(Mlx5.OPCODE_ATOMIC_CS).remote(b.mr, 0), VendorSyndrome.WQE_SEGMENTS);
  }

  @Test
  void anInlineSegmentInAReadIsAnOperationError() {
    operation(
        WqeBytes.of(Mlx5.OPCODE_RDMA_READ).remote(b.mr, 0).inline(new byte[8]),
        VendorSyndrome.WQE_SEGMENTS);
  }

  @Test
  void anInlineSegmentLongerThanItsWqeIsAnOperationError() {
    operation(write().ints(0x8000_0100, 0, 0, 0), VendorSyndrome.WQE_SEGMENTS);
  }

  @Test
  void anInlineSegmentOfTwoGigabytesIsAnOperationError() {
    operation(write().ints(-1, 0, 0, 0), VendorSyndrome.WQE_SEGMENTS);
  }

  private void operation(WqeBytes wqe, int vendor) {
    refused(wqe, Syndrome.LOCAL_QP_OPERATION, vendor);
  }

  @Test
  void aProducerIndexMoreThanTheRingAheadIsAnOperationError() {
    a.pi = Side.DEPTH + 1;
    a.ring();
    Completion cqe = a.await(0);
    assertEquals(Syndrome.LOCAL_QP_OPERATION, cqe.syndrome());
    assertEquals(VendorSyndrome.QUEUE_OVERRUN, cqe.vendor());
  }

  @Test
  void anUnknownKeyIsAProtectionError() {
    protection(write().data(a.mr.address(), 8, a.mr.lkey() + 1), VendorSyndrome.KEY);
  }

  @Test
  void theKeyOfAClosedRegionIsAProtectionError() {
    a.execute(write().signalled().data(a.mr, 0, 8));
    a.mr.close();
    protection(write().data(a.mr, 0, 8), VendorSyndrome.KEY);
  }

  @Test
  void anotherNicsKeyIsAProtectionError() {
    protection(write().data(b.mr, 0, 8), VendorSyndrome.KEY);
  }

  @Test
  void bytesPastTheRegionAreAProtectionError() {
    protection(write().data(a.mr, Side.BUFFER - 7, 8), VendorSyndrome.BOUNDS);
  }

  @Test
  void bytesBeforeTheRegionAreAProtectionError() {
    a.execute(write().signalled().data(a.mr, 0, 8));
    protection(write().data(a.mr, -1, 8), VendorSyndrome.BOUNDS);
  }

  @Test
  void anAddressThatWrapsIsAProtectionError() {
    protection(write().data(-1L, 8, a.mr.lkey()), VendorSyndrome.BOUNDS);
  }

  @Test
  void aByteCountOfZeroMeansTwoGigabytesAndIsOutOfBounds() {
    protection(write().data(a.mr, 0, 0), VendorSyndrome.BOUNDS);
  }

  @Test
  void readingIntoReadOnlyMemoryIsAProtectionError() {
    SoftMr readable = a.nic.register(a.buffer.asReadOnly(), 0);
    protection(
        WqeBytes.of(Mlx5.OPCODE_RDMA_READ).remote(b.mr, 0).data(readable, 0, 8),
        VendorSyndrome.PERMISSION);
  }

  @Test
  void anAtomicResultInReadOnlyMemoryIsAProtectionErrorAndHasNoEffect() {
    SoftMr readable = a.nic.register(a.buffer.asReadOnly(), 0);
    protection(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA).remote(b.mr, 0).longs(1, 0).data(readable, 0, 8),
        VendorSyndrome.PERMISSION);
    assertEquals(0, b.word(0));
  }

  private void protection(WqeBytes wqe, int vendor) {
    refused(wqe, Syndrome.LOCAL_PROTECTION, vendor);
  }

  @Test
  void writingFromAClosedArenaIsAProtectionError() {
    closedArena(mr -> protection(write().data(mr, 0, 64), VendorSyndrome.MEMORY_CLOSED));
  }

  @Test
  void theFastPathSeesAClosedArenaToo() {
    SoftMr mr;
    try (Arena arena = Arena.ofShared()) {
      mr = a.nic.register(arena.allocate(64), 0);
      a.execute(write().signalled().data(mr, 0, 64));
    }
    protection(write().data(mr, 0, 64), VendorSyndrome.MEMORY_CLOSED);
  }

  @Test
  void readingIntoAClosedArenaIsAProtectionError() {
    closedArena(
        mr ->
            protection(
                WqeBytes.of(Mlx5.OPCODE_RDMA_READ).remote(b.mr, 0).data(mr, 0, 64),
                VendorSyndrome.MEMORY_CLOSED));
  }

  @Test
  void sendingFromAClosedArenaIsAProtectionErrorAndTakesNoReceive() {
    b.receive(0, 64);
    closedArena(
        mr ->
            protection(
                WqeBytes.of(Mlx5.OPCODE_SEND).data(mr, 0, 64), VendorSyndrome.MEMORY_CLOSED));
    assertEquals(0, b.qp.receives());
  }

  @Test
  void anAtomicResultInAClosedArenaIsAProtectionErrorAndHasNoEffect() {
    closedArena(
        mr ->
            protection(
                WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA).remote(b.mr, 0).longs(1, 0).data(mr, 0, 8),
                VendorSyndrome.MEMORY_CLOSED));
    assertEquals(0, b.word(0));
  }

  private void closedArena(Consumer<SoftMr> then) {
    SoftMr mr;
    try (Arena arena = Arena.ofShared()) {
      mr = a.nic.register(arena.allocate(64, 8), SoftMr.LOCAL_WRITE);
    }
    then.accept(mr);
  }
}
