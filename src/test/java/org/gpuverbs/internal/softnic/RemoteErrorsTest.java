// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the responder refuses, and how both sides learn of it: syndromes 0x12 to 0x16. */
class RemoteErrorsTest {
  private final Pair pair = new Pair(SoftNicConfig.defaults(), Side.DEPTH, Side.DEPTH);
  private final Side a = pair.a;
  private final Side b = pair.b;

  @AfterEach
  void close() {
    pair.close();
  }

  /** One-sided operations and the access that they need. */
  enum Kind {
    WRITE(Mlx5.OPCODE_RDMA_WRITE, SoftMr.REMOTE_WRITE),
    WRITE_IMM(Mlx5.OPCODE_RDMA_WRITE_IMM, SoftMr.REMOTE_WRITE),
    READ(Mlx5.OPCODE_RDMA_READ, SoftMr.REMOTE_READ),
    FETCH_ADD(Mlx5.OPCODE_ATOMIC_FA, SoftMr.REMOTE_ATOMIC),
    COMPARE_SWAP(Mlx5.OPCODE_ATOMIC_CS, SoftMr.REMOTE_ATOMIC);

    final int opcode;
    final int access;

    Kind(int opcode, int access) {
      this.opcode = opcode;
      this.access = access;
    }

    WqeBytes wqe(Side a, long address, int rkey) {
      WqeBytes wqe = WqeBytes.of(opcode).signalled().remote(address, rkey);
      if (access == SoftMr.REMOTE_ATOMIC) {
        wqe.longs(0, 0);
      }
      return wqe.data(a.mr, 0, 8);
    }
  }

  private Completion refused(WqeBytes wqe, int syndrome, int vendor) {
    long index = a.send(wqe);
    Completion cqe = a.await(index);
    assertEquals(Mlx5.CQE_REQ_ERR, cqe.opcode());
    assertEquals(Syndrome.name(syndrome), Syndrome.name(cqe.syndrome()));
    assertEquals(VendorSyndrome.name(vendor), VendorSyndrome.name(cqe.vendor()));
    assertEquals(index, cqe.wqeCounter());
    assertEquals(SoftState.ERROR, a.qp.state());
    return cqe;
  }

  private void accessRefused(Kind kind, long address, int rkey, int vendor) {
    b.receive(0, 8);
    pair.connect();
    a.word(0, 0x5555);
    refused(kind.wqe(a, address, rkey), Syndrome.REMOTE_ACCESS, vendor);
    // A NAK ends the responder as well; what it had posted is flushed.
    assertEquals(SoftState.ERROR, b.qp.state());
    assertEquals(Syndrome.FLUSHED, b.receiveCq.take().syndrome());
    assertEquals(0x5555, a.word(0));
  }

  @ParameterizedTest
  @EnumSource
  void anUnknownKeyIsARemoteAccessError(Kind kind) {
    accessRefused(kind, b.mr.address(), b.mr.rkey() ^ 0x4000, VendorSyndrome.KEY);
  }

  @ParameterizedTest
  @EnumSource
  void theKeyOfAClosedRegionIsARemoteAccessError(Kind kind) {
    SoftMr mr = b.nic.register(b.buffer, SoftMr.ALL_ACCESS);
    mr.close();
    accessRefused(kind, mr.address(), mr.rkey(), VendorSyndrome.KEY);
  }

  @ParameterizedTest
  @EnumSource
  void bytesPastTheRegionAreARemoteAccessError(Kind kind) {
    SoftMr mr = b.nic.register(b.buffer.asSlice(0, 68), SoftMr.ALL_ACCESS);
    accessRefused(kind, mr.address() + 64, mr.rkey(), VendorSyndrome.BOUNDS);
  }

  @ParameterizedTest
  @EnumSource
  void bytesBeforeTheRegionAreARemoteAccessError(Kind kind) {
    accessRefused(kind, b.mr.address() - 8, b.mr.rkey(), VendorSyndrome.BOUNDS);
  }

  @ParameterizedTest
  @EnumSource
  void missingAccessIsARemoteAccessError(Kind kind) {
    SoftMr mr = b.nic.register(b.buffer, SoftMr.ALL_ACCESS & ~kind.access);
    accessRefused(kind, mr.address(), mr.rkey(), VendorSyndrome.PERMISSION);
  }

  @ParameterizedTest
  @EnumSource
  void aClosedArenaIsARemoteAccessError(Kind kind) {
    SoftMr mr;
    try (Arena arena = Arena.ofShared()) {
      mr = b.nic.register(arena.allocate(64, 8), SoftMr.ALL_ACCESS);
    }
    accessRefused(kind, mr.address(), mr.rkey(), VendorSyndrome.MEMORY_CLOSED);
  }

  @Test
  void theFastPathSeesThePeersClosedArenaToo() {
    pair.connect();
    SoftMr mr;
    try (Arena arena = Arena.ofShared()) {
      mr = b.nic.register(arena.allocate(64, 8), SoftMr.ALL_ACCESS);
      a.execute(Kind.WRITE.wqe(a, mr.address(), mr.rkey()));
    }
    refused(
        Kind.WRITE.wqe(a, mr.address(), mr.rkey()),
        Syndrome.REMOTE_ACCESS,
        VendorSyndrome.MEMORY_CLOSED);
  }

  @Test
  void theFastPathSeesThePeersClosedRegionToo() {
    pair.connect();
    a.execute(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()));
    b.mr.close();
    refused(
        Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()), Syndrome.REMOTE_ACCESS, VendorSyndrome.KEY);
  }

  @Test
  void theFastPathSeesTheEndOfThePeersRegionToo() {
    pair.connect();
    a.execute(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()));
    refused(
        Kind.WRITE.wqe(a, b.mr.address() + Side.BUFFER - 7, b.mr.rkey()),
        Syndrome.REMOTE_ACCESS,
        VendorSyndrome.BOUNDS);
  }

  @Test
  void theFastPathSeesMissingAccessToo() {
    pair.connect();
    a.execute(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()));
    SoftMr readable = b.nic.register(b.buffer, SoftMr.REMOTE_READ);
    a.execute(Kind.READ.wqe(a, readable.address(), readable.rkey()));
    refused(
        Kind.WRITE.wqe(a, readable.address(), readable.rkey()),
        Syndrome.REMOTE_ACCESS,
        VendorSyndrome.PERMISSION);
  }

  @ParameterizedTest
  @EnumSource(names = {"FETCH_ADD", "COMPARE_SWAP"})
  void anUnalignedAtomicIsARemoteInvalidRequest(Kind kind) {
    pair.connect();
    refused(
        kind.wqe(a, b.mr.address() + 4, b.mr.rkey()),
        Syndrome.REMOTE_INVALID_REQUEST,
        VendorSyndrome.ALIGNMENT);
    assertEquals(SoftState.ERROR, b.qp.state());
  }

  @Test
  void aFourByteAtomicMayLieAtAMultipleOfFour() {
    pair.connect();
    Completion cqe =
        a.execute(
            WqeBytes.of(Mlx5.OPCODE_ATOMIC_MASKED_FA)
                .opmod(Mlx5.OPMOD_MASKED_4_BYTES)
                .signalled()
                .remote(b.mr, 4)
                .ints(7, 0)
                .longs(0)
                .data(a.mr, 0, 4));
    assertEquals(Mlx5.CQE_REQ, cqe.opcode());
    assertEquals(7L << 32, b.word(0));
  }

  @Test
  void sendingToAPeerWithoutAReceiveQueueIsARemoteInvalidRequest() {
    Side deaf = new Side(pair.nicB, pair.arena, Side.DEPTH, 0, null);
    Pair.connect(a, deaf);
    refused(
        WqeBytes.of(Mlx5.OPCODE_SEND).data(a.mr, 0, 8),
        Syndrome.REMOTE_INVALID_REQUEST,
        VendorSyndrome.NO_RECEIVE_QUEUE);
  }

  @Test
  void aPeerThatNeverConnectsExceedsTheRetries() {
    pair.connectA(1, 7, Duration.ofMillis(5));
    refused(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()), Syndrome.RETRY_EXCEEDED, 0);
    assertEquals(1, a.qp.retryStalls());
  }

  @Test
  void aPeerThatIsInErrorExceedsTheRetries() {
    pair.connect(0, 7, Duration.ofMillis(5));
    b.qp.fail();
    refused(Kind.READ.wqe(a, b.mr.address(), b.mr.rkey()), Syndrome.RETRY_EXCEEDED, 0);
  }

  @Test
  void aPeerThatWasClosedExceedsTheRetries() {
    pair.connect(0, 7, Duration.ofMillis(5));
    a.execute(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()));
    b.qp.close();
    refused(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()), Syndrome.RETRY_EXCEEDED, 0);
  }

  @Test
  void aPeerWhoseNicWasClosedExceedsTheRetries() {
    pair.connect(0, 7, Duration.ofMillis(5));
    b.nic.close();
    refused(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()), Syndrome.RETRY_EXCEEDED, 0);
  }

  @Test
  void aPeerConnectedToSomebodyElseExceedsTheRetries() {
    Side other = new Side(pair.nicA, pair.arena, false);
    Pair.connect(other, b);
    pair.connectA(0, 7, Duration.ofMillis(5));
    refused(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()), Syndrome.RETRY_EXCEEDED, 0);
    assertEquals(SoftState.READY, b.qp.state());
  }

  @Test
  void aPeerConnectedToTheSameNumberOnAnotherNicExceedsTheRetries() {
    pair.connectA(0, 7, Duration.ofMillis(5));
    b.qp.connect(new SoftRemote(b.nic.guid(), a.qp.number(), Pair.PSN_A, Pair.PSN_B));
    refused(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()), Syndrome.RETRY_EXCEEDED, 0);
  }

  @Test
  void anotherSequenceNumberExceedsTheRetries() {
    pair.connectA(0, 7, Duration.ofMillis(5));
    b.qp.connect(new SoftRemote(a.nic.guid(), a.qp.number(), Pair.PSN_A + 1, Pair.PSN_B));
    refused(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()), Syndrome.RETRY_EXCEEDED, 0);
  }

  @Test
  void aMessageWaitsForAPeerThatConnectsLater() {
    pair.connectA(7, 7, Duration.ofSeconds(10));
    long index = a.send(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()));
    Await.until("the message to stall", () -> a.qp.retryStalls() == 1);
    assertFalse(a.completed(index));
    b.qp.connect(new SoftRemote(a.nic.guid(), a.qp.number(), Pair.PSN_A, Pair.PSN_B));
    assertEquals(Mlx5.CQE_REQ, a.await(index).opcode());
  }

  @Test
  void aStalledQueuePairDoesNotHoldUpItsNeighbours() {
    pair.connectA(7, 7, Duration.ofHours(1));
    a.send(Kind.WRITE.wqe(a, b.mr.address(), b.mr.rkey()));
    Side c = new Side(pair.nicA, pair.arena, false);
    Side d = new Side(pair.nicB, pair.arena, false);
    Pair.connect(c, d);
    Await.until("the message to stall", () -> a.qp.retryStalls() == 1);
    assertEquals(Mlx5.CQE_REQ, c.execute(Kind.WRITE.wqe(c, d.mr.address(), d.mr.rkey())).opcode());
  }

  @Test
  void aNopNeedsNoPeer() {
    pair.connectA(0, 7, Duration.ofMillis(5));
    assertEquals(Mlx5.CQE_REQ, a.execute(WqeBytes.of(Mlx5.OPCODE_NOP).signalled()).opcode());
  }

  @Test
  void aRegionOfAnotherSegmentIsNotReachedThroughThisOne() {
    MemorySegment two = pair.arena.allocate(128, 8);
    SoftMr first = b.nic.register(two.asSlice(0, 64), SoftMr.ALL_ACCESS);
    SoftMr second = b.nic.register(two.asSlice(64, 64), SoftMr.ALL_ACCESS);
    accessRefused(Kind.WRITE, second.address(), first.rkey(), VendorSyndrome.BOUNDS);
  }
}
