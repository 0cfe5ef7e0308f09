// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connect, reset, close, in and out of order. */
class LifecycleTest {
  private final Pair pair = new Pair(SoftNicConfig.defaults(), Side.DEPTH, Side.DEPTH);
  private final Side a = pair.a;
  private final Side b = pair.b;

  @AfterEach
  void close() {
    pair.close();
  }

  private WqeBytes write() {
    return WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).signalled().remote(b.mr, 0).data(a.mr, 0, 8);
  }

  @Test
  void aNewQueuePairIsInReset() {
    assertEquals(SoftState.RESET, a.qp.state());
  }

  @Test
  void nothingIsConsumedInReset() {
    a.send(write());
    Side c = new Side(pair.nicA, pair.arena, false);
    Side d = new Side(pair.nicB, pair.arena, false);
    Pair.connect(c, d);
    c.execute(WqeBytes.of(Mlx5.OPCODE_NOP).signalled());
    assertEquals(0, a.qp.wqes());
  }

  @Test
  void aSecondConnectIsRefused() {
    pair.connect();
    assertThrows(IllegalStateException.class, pair::connect);
    assertEquals(SoftState.READY, a.qp.state());
  }

  @Test
  void bothSidesStartAfreshAfterReset() {
    pair.connect();
    for (int round = 0; round < 5; round++) {
      a.word(0, round + 1);
      for (int i = 0; i < 40; i++) {
        a.post(write());
      }
      a.ring();
      assertEquals(39, a.await(39).wqeCounter());
      assertEquals(round + 1, b.word(0));
      a.reset();
      b.reset();
      pair.connect();
    }
  }

  @Test
  void resetRecoversFromAnError() {
    pair.connect();
    a.execute(WqeBytes.of(0x3f));
    assertEquals(SoftState.ERROR, a.qp.state());
    a.reset();
    b.reset();
    assertEquals(SoftState.RESET, a.qp.state());
    pair.connect();
    assertEquals(Mlx5.CQE_REQ, a.execute(write()).opcode());
  }

  @Test
  void aResetOfOneSideIsNoticed() {
    pair.connect(0, 7, Duration.ofMillis(5));
    a.execute(write());
    a.reset();
    pair.connectA(0, 7, Duration.ofMillis(5));
    assertEquals(Syndrome.RETRY_EXCEEDED, a.execute(write()).syndrome());
    // In the other direction too: what B sends, A no longer expects from this connection.
    assertEquals(SoftState.READY, b.qp.state());
  }

  @Test
  void resetClearsTheDoorbell() {
    pair.connect();
    a.qp.reset();
    a.send(write());
    a.qp.reset();
    a.memory.dbr.fill((byte) 0);
    pair.connectA(7, 7, Duration.ofSeconds(1));
    assertEquals(0, a.qp.doorbells());
    assertEquals(0, a.memory.doorbell.get(ValueLayout.JAVA_LONG, 0));
  }

  @Test
  void failInResetDoesNothing() {
    a.qp.fail();
    assertEquals(SoftState.RESET, a.qp.state());
  }

  @Test
  void aClosedQueuePairRefusesEverything() {
    pair.connect();
    a.qp.close();
    a.qp.close();
    a.qp.fail();
    assertEquals(SoftState.CLOSED, a.qp.state());
    assertThrows(IllegalStateException.class, a.qp::reset);
    assertThrows(IllegalStateException.class, () -> pair.connectA(0, 0, Duration.ofMillis(1)));
  }

  @Test
  void aClosedQueuePairsMemoryIsNotTouched() {
    // Under valgrind or a guard page this would be a crash; here it shows as a changed byte.
    pair.connect();
    a.execute(write());
    a.qp.close();
    a.memory.doorbell.fill((byte) 0x55);
    a.memory.dbr.fill((byte) 0x55);
    Side c = new Side(pair.nicA, pair.arena, false);
    c.qp.connect(new SoftRemote(pair.nicB.guid(), 2, 0, 0));
    c.execute(WqeBytes.of(Mlx5.OPCODE_NOP).signalled());
    assertEquals(0x55, a.memory.doorbell.get(ValueLayout.JAVA_BYTE, 0));
  }

  @Test
  void closingTheNicClosesItsQueuePairs() {
    pair.connect();
    a.nic.close();
    assertEquals(SoftState.CLOSED, a.qp.state());
    assertThrows(IllegalStateException.class, () -> new Side(a.nic, pair.arena, false));
    assertThrows(IllegalStateException.class, () -> a.nic.register(a.buffer, 0));
    a.nic.close();
    a.mr.close();
  }

  @Test
  void closingTheNicStopsItsThreads() {
    SoftNic nic = SoftNic.open(SoftNicConfig.defaults().withThreads(3));
    String prefix = "gpuverbs-softnic-";
    long before = threads(prefix);
    assertTrue(before >= 5, "two NICs of one thread and one of three");
    nic.close();
    Await.until("three threads to end", () -> threads(prefix) == before - 3);
  }

  private static long threads(String prefix) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(prefix) && thread.isDaemon())
        .count();
  }

  @Test
  void queuePairsAreLimited() {
    try (SoftNic nic = SoftNic.open(SoftNicConfig.defaults().withMaxQueuePairs(2));
        Arena arena = Arena.ofShared()) {
      QueueMemory memory = new QueueMemory(arena, 64, 0);
      nic.createQp(memory.attr(null, null));
      SoftQp second = nic.createQp(memory.attr(null, null));
      assertThrows(IllegalStateException.class, () -> nic.createQp(memory.attr(null, null)));
      second.close();
      nic.createQp(memory.attr(null, null)).close();
    }
  }

  @Test
  void closedKeysAreNotReused() {
    for (int i = 0; i < 300; i++) {
      SoftMr mr = a.nic.register(a.buffer, 0);
      mr.close();
      mr.close();
      assertFalse(mr.lkey() == a.mr.lkey());
    }
    pair.connect();
    assertEquals(Mlx5.CQE_REQ, a.execute(write()).opcode());
  }

  @Test
  void heapMemoryIsRefused() {
    refused("heap", MemorySegment.ofArray(new byte[64]), 0);
  }

  @Test
  void confinedMemoryIsRefused() {
    try (Arena arena = Arena.ofConfined()) {
      refused("confined", arena.allocate(64), 0);
    }
  }

  @Test
  void emptyMemoryIsRefused() {
    refused("empty", a.buffer.asSlice(0, 0), 0);
  }

  @Test
  void readOnlyMemoryIsRefusedForWrites() {
    refused("read-only", a.buffer.asReadOnly(), SoftMr.REMOTE_WRITE);
  }

  @Test
  void unknownAccessBitsAreRefused() {
    refused("access bits", a.buffer, 0x10);
  }

  private void refused(String word, MemorySegment segment, int access) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> a.nic.register(segment, access))
            .getMessage();
    assertTrue(message.contains(word), message);
  }

  @Test
  void closedMemoryIsRefused() {
    MemorySegment segment;
    try (Arena arena = Arena.ofShared()) {
      segment = arena.allocate(64);
    }
    assertThrows(IllegalStateException.class, () -> a.nic.register(segment, 0));
  }

  @Test
  void remoteWriteImpliesLocalWrite() {
    SoftMr mr = a.nic.register(a.buffer, SoftMr.REMOTE_ATOMIC);
    assertEquals(SoftMr.REMOTE_ATOMIC | SoftMr.LOCAL_WRITE, mr.access());
  }

  @Test
  void automaticMemoryIsKeptWhileRegistered() {
    SoftMr mr = a.nic.register(Arena.ofAuto().allocate(1024, 8), SoftMr.ALL_ACCESS);
    System.gc();
    pair.connect();
    a.execute(WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).signalled().remote(b.mr, 0).data(mr, 0, 1024));
    assertEquals(SoftState.READY, a.qp.state());
  }
}
