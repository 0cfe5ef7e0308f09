// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.Random;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Payload in memory that only a copy engine can touch. */
class DevicePayloadTest {
  private final Pair pair = new Pair();
  private final Side a = pair.a;
  private final Side b = pair.b;
  private final SlowEngine engine = new SlowEngine();
  private final SoftMr near = engine.register(pair.nicA, SoftMr.ALL_ACCESS);
  private final SoftMr far = engine.register(pair.nicB, SoftMr.ALL_ACCESS);
  private final Random random = new Random(3);

  @AfterEach
  void close() {
    pair.nicA.close();
    pair.nicB.close();
    engine.close();
    assertEquals(0, engine.open.get());
    pair.arena.close();
  }

  private byte[] fresh(int length) {
    byte[] data = new byte[length];
    random.nextBytes(data);
    return data;
  }

  private static WqeBytes write() {
    return WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).signalled();
  }

  private static WqeBytes read() {
    return WqeBytes.of(Mlx5.OPCODE_RDMA_READ).signalled();
  }

  private void succeeds(WqeBytes wqe) {
    assertEquals(Mlx5.CQE_REQ, a.execute(wqe).opcode());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 8, 63, 64, 4095, 4096, 4097, 30000})
  void writesGoIntoOutOfAndWithinADevice(int length) {
    byte[] data = fresh(length);
    a.fill(3, data);
    succeeds(write().remote(far, 100).data(a.mr, 3, length));
    assertArrayEquals(data, engine.bytes(100, length));
    succeeds(write().remote(far, 200_001).data(near, 100, length));
    assertArrayEquals(data, engine.bytes(200_001, length));
    succeeds(write().remote(b.mr, 7).data(near, 200_001, length));
    assertArrayEquals(data, b.bytes(7, length));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 4097, 30000})
  void readsGoIntoOutOfAndWithinADevice(int length) {
    byte[] data = fresh(length);
    b.fill(5, data);
    succeeds(read().remote(b.mr, 5).data(near, 100, length));
    assertArrayEquals(data, engine.bytes(100, length));
    succeeds(read().remote(far, 100).data(near, 300_000, length));
    assertArrayEquals(data, engine.bytes(300_000, length));
    succeeds(read().remote(far, 300_000).data(a.mr, 9, length));
    assertArrayEquals(data, a.bytes(9, length));
  }

  @Test
  void aMessageGathersFromBothSidesAndFromItself() {
    byte[] data = fresh(100);
    a.fill(0, data);
    engine.fill(0, fresh(100));
    byte[] device = engine.bytes(0, 100);
    succeeds(write().remote(b.mr, 0).data(near, 0, 10).data(a.mr, 0, 20).inline(new byte[] {1, 2}));
    assertArrayEquals(java.util.Arrays.copyOf(device, 10), b.bytes(0, 10));
    assertArrayEquals(java.util.Arrays.copyOf(data, 20), b.bytes(10, 20));
    assertArrayEquals(new byte[] {1, 2}, b.bytes(30, 2));
  }

  @Test
  void aSendScattersIntoADevice() {
    byte[] data = fresh(50);
    engine.fill(500, data);
    b.receive(
        new long[] {far.address(), b.mr.address()},
        new int[] {20, 30},
        new int[] {far.key, b.mr.key});
    succeeds(WqeBytes.of(Mlx5.OPCODE_SEND).signalled().data(near, 500, 50));
    assertArrayEquals(java.util.Arrays.copyOf(data, 20), engine.bytes(0, 20));
    assertArrayEquals(java.util.Arrays.copyOfRange(data, 20, 50), b.bytes(0, 30));
  }

  @Test
  void laterMessagesSeeWhatEarlierOnesStored() {
    // One pass: a chain through both memories.
    a.word(0, 77);
    a.post(write().remote(far, 0).data(a.mr, 0, 8));
    a.post(write().remote(far, 64).data(near, 0, 8));
    a.post(write().remote(b.mr, 0).data(near, 64, 8));
    a.post(read().remote(b.mr, 0).data(a.mr, 128, 8));
    a.post(write().remote(far, 128).data(a.mr, 128, 8));
    a.post(read().remote(far, 128).data(a.mr, 256, 8));
    a.ring();
    a.await(5);
    assertEquals(77, a.word(256));
    assertEquals(77, b.word(0));
  }

  @Test
  void noCompletionComesBeforeTheCopies() {
    engine.stopped = true;
    long index = a.send(write().remote(far, 0).data(a.mr, 0, 64));
    Await.until("a copy", () -> engine.copies.get() > 0);
    assertFalse(a.completed(index));
    engine.stopped = false;
    a.await(index);
  }

  @Test
  void adjacentMessagesBecomeOneCopy() {
    byte[] data = fresh(20 * 64);
    a.fill(0, data);
    engine.fill(0, data);
    for (int i = 0; i < 20; i++) {
      a.post(write().remote(b.mr, 64L * i).data(near, 64L * i, 64));
    }
    for (int i = 0; i < 20; i++) {
      a.post(write().remote(far, 4096 + 64L * i).data(near, 64L * i, 64));
    }
    a.ring();
    a.await(39);
    assertArrayEquals(data, b.bytes(0, data.length));
    assertArrayEquals(data, engine.bytes(4096, data.length));
    assertTrue(engine.copies.get() <= 3, engine.copies.get() + " copies");
  }

  @Test
  void overlappingMessagesStayApart() {
    engine.fill(0, new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    // The second reads what the first wrote.
    a.post(write().remote(far, 4).data(near, 0, 4));
    a.post(write().remote(far, 8).data(near, 4, 4));
    a.ring();
    a.await(1);
    assertArrayEquals(new byte[] {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, engine.bytes(0, 12));
  }

  @Test
  void atomicsReadAndModifyDeviceMemory() {
    engine.memory.set(java.lang.foreign.ValueLayout.JAVA_LONG, 64, 40);
    succeeds(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA)
            .signalled()
            .remote(far, 64)
            .longs(2, 0)
            .data(a.mr, 0, 8));
    assertEquals(40, a.word(0));
    succeeds(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_CS)
            .signalled()
            .remote(far, 64)
            .longs(7, 42)
            .data(near, 128, 8));
    assertEquals(42, engine.memory.get(java.lang.foreign.ValueLayout.JAVA_LONG, 128));
    assertEquals(7, engine.memory.get(java.lang.foreign.ValueLayout.JAVA_LONG, 64));
    b.word(0, 5);
    succeeds(
        WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA)
            .signalled()
            .remote(b.mr, 0)
            .longs(1, 0)
            .data(near, 256, 8));
    assertEquals(6, b.word(0));
    assertEquals(5, engine.memory.get(java.lang.foreign.ValueLayout.JAVA_LONG, 256));
  }

  @Test
  void aCopyThatCanNotBeStartedFailsTheFirstMessageThatItIsFor() {
    engine.failing = 1;
    a.word(0, 1);
    long good = a.send(write().remote(far, 0).data(a.mr, 0, 8));
    a.await(good);
    long bad = a.post(write().remote(far, 64).data(a.mr, 0, 8));
    a.post(write().remote(far, 256).data(a.mr, 0, 8));
    a.ring();
    Completion cqe = a.await(bad);
    assertEquals(Mlx5.CQE_REQ_ERR, cqe.opcode());
    assertEquals(Syndrome.LOCAL_QP_OPERATION, cqe.syndrome());
    assertEquals(VendorSyndrome.COPY_FAILED, cqe.vendor());
    assertEquals(bad, cqe.wqeCounter());
    assertEquals(SoftState.ERROR, a.qp.state());
  }

  @Test
  void aClosedArenaIsAProtectionErrorThroughStagingToo() {
    Arena arena = Arena.ofShared();
    SoftMr closing = pair.nicA.register(arena.allocate(64), SoftMr.ALL_ACCESS);
    arena.close();
    Completion cqe = a.execute(write().remote(far, 0).data(closing, 0, 8));
    assertEquals(Syndrome.LOCAL_PROTECTION, cqe.syndrome());
    assertEquals(VendorSyndrome.MEMORY_CLOSED, cqe.vendor());
  }

  @Test
  void boundsAndPermissionsHoldForDevicesToo() {
    SoftMr readable = engine.register(pair.nicB, SoftMr.REMOTE_READ);
    assertEquals(
        Syndrome.REMOTE_ACCESS, a.execute(write().remote(readable, 0).data(a.mr, 0, 8)).syndrome());
  }

  @Test
  void aNicOpenedLaterReachesTheDevice() {
    try (Pair later = new Pair()) {
      SoftMr memory = engine.register(later.nicB, SoftMr.ALL_ACCESS);
      later.a.word(0, 9);
      later.a.execute(write().remote(memory, 8).data(later.a.mr, 0, 8));
      assertEquals(9, engine.memory.get(java.lang.foreign.ValueLayout.JAVA_LONG, 8));
    }
  }
}
