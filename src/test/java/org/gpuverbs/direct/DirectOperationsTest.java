// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import org.gpuverbs.Access;
import org.gpuverbs.Completions;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Ordering;
import org.gpuverbs.QueuePairState;
import org.gpuverbs.RemoteMemory;
import org.gpuverbs.SignalWait;
import org.gpuverbs.WorkRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every operation by path DIRECT, byte for byte. */
@OnStandIn
@Timeout(120)
class DirectOperationsTest {
  private static final int LENGTH = 5000;

  private final Ends ends = new Ends();

  @AfterEach
  void close() {
    ends.close();
  }

  private static byte[] random(MemorySegment into, int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    MemorySegment.copy(bytes, 0, into, JAVA_BYTE, 0, length);
    return bytes;
  }

  private static byte[] read(MemoryRegion region, long offset, int length) {
    return region.segment().asSlice(offset, length).toArray(JAVA_BYTE);
  }

  @Test
  void aWriteGathersThreeSegments() throws Exception {
    byte[] source = random(ends.local.segment(), LENGTH);
    ends.run(
        new WorkRequest.Write(
            List.of(ends.local.local(100, 10), ends.local.local(7, 0), ends.local.local(0, 20)),
            ends.remote.remote(0, 30)));
    byte[] expected = new byte[30];
    System.arraycopy(source, 100, expected, 0, 10);
    System.arraycopy(source, 0, expected, 10, 20);
    assertArrayEquals(expected, read(ends.remote, 0, 30));
    assertEquals(QueuePairState.READY, ends.qp.state());
    assertEquals(DevxQueue.RTS, StandIn.queuePair(ends.qp.number()).state());
  }

  @Test
  void aReadFetchesThePeersBytes() throws Exception {
    byte[] expected = random(ends.remote.segment(), LENGTH);
    ends.run(new WorkRequest.Read(ends.local.local(8, LENGTH), ends.remote.remote(0, LENGTH)));
    assertArrayEquals(expected, read(ends.local, 8, LENGTH));
  }

  @Test
  void inlineWritesOfAllSizesArrive() throws Exception {
    byte[] expected = random(MemorySegment.ofArray(new byte[220]), 220);
    for (int size = 0; size <= 220; size += 11) {
      byte[] part = java.util.Arrays.copyOf(expected, size);
      ends.run(new WorkRequest.WriteInline(part, ends.remote.remote(3, size)));
      assertArrayEquals(part, read(ends.remote, 3, size));
    }
  }

  @Test
  void requestsOfZeroBytesComplete() throws Exception {
    RemoteMemory nowhere = ends.remote.remote(0, 0);
    ends.run(
        new WorkRequest.Nop(),
        new WorkRequest.Write(List.of(), nowhere),
        new WorkRequest.Read(List.of(), nowhere),
        new WorkRequest.WriteInline(new byte[0], nowhere));
    assertEquals(4, ends.qp.completed());
  }

  @Test
  void atomicsReturnTheOldValue() throws Exception {
    ends.remote.segment().set(JAVA_LONG, 64, 40);
    RemoteMemory word = ends.remote.remote(64, 8);
    ends.run(
        new WorkRequest.FetchAdd(ends.local.local(0, 8), word, 2),
        new WorkRequest.CompareSwap(ends.local.local(8, 8), word, 42, 7),
        new WorkRequest.CompareSwap(ends.local.local(16, 8), word, 42, 9));
    assertEquals(40, ends.local.segment().get(JAVA_LONG, 0));
    assertEquals(42, ends.local.segment().get(JAVA_LONG, 8));
    assertEquals(7, ends.local.segment().get(JAVA_LONG, 16));
    assertEquals(7, ends.remote.segment().get(JAVA_LONG, 64));
  }

  @Test
  void messagesArriveInTheirReceives() throws Exception {
    byte[] expected = random(ends.local.segment(), 64);
    ends.postReceives(3);
    ends.run(
        new WorkRequest.Send(ends.local.local(0, 64)),
        new WorkRequest.SendImmediate(ends.local.local(0, 16), -5),
        new WorkRequest.WriteImmediate(
            ends.local.local(0, 64), ends.remote.remote(4096, 64), 0x01020304));
    Completions got = new Completions(8);
    long[] lengths = new long[3];
    int[] immediates = new int[3];
    for (int i = 0; i < 3; ) {
      Ends.await(ends.received, got);
      for (int k = 0; k < got.size(); k++, i++) {
        assertEquals(i, got.id(k));
        lengths[i] = got.byteLength(k);
        immediates[i] = got.hasImmediate(k) ? got.immediate(k) : 0;
      }
    }
    assertArrayEquals(new long[] {64, 16, 64}, lengths);
    assertArrayEquals(new int[] {0, -5, 0x01020304}, immediates);
    assertArrayEquals(expected, read(ends.remote, 0, 64));
    assertArrayEquals(expected, read(ends.remote, 4096, 64));
  }

  @Test
  void aSignalIsSeenBehindWhatItSignals() throws Exception {
    byte[] expected = random(ends.local.segment(), LENGTH);
    long at = Ends.BYTES - 8;
    ends.run(ends.write(0, LENGTH), new WorkRequest.WriteInline(7L, ends.remote.remote(at, 8)));
    SignalWait.untilEqual(ends.remote, at, 7, Ends.TIMEOUT);
    assertArrayEquals(expected, read(ends.remote, 0, LENGTH));
  }

  @Test
  void theNicTellsWhereItIs() throws Exception {
    ends.run(new WorkRequest.Nop(), new WorkRequest.Nop());
    org.gpuverbs.NicState state = ends.qp.queryNic().orElseThrow();
    assertEquals("RTS", state.state());
    assertEquals(2, state.sendIndex());
    assertEquals(ends.peer.number(), state.peer());
    assertTrue(state.event().isEmpty(), state.event());
  }

  @Test
  void relaxedOrderingIsTakenOnRequestAndRefusedForSignals() throws Exception {
    assertEquals(0, StandIn.get("live.relaxed_mrs"));
    try (MemoryRegion bulk = ends.nic.allocate(4096, Ordering.RELAXED, Access.REMOTE_WRITE)) {
      assertEquals(1, StandIn.get("live.relaxed_mrs"));
      byte[] expected = random(ends.local.segment(), 4096);
      ends.run(new WorkRequest.Write(ends.local.local(0, 4096), bulk.remote()));
      assertArrayEquals(expected, read(bulk, 0, 4096));
      IllegalArgumentException e =
          assertThrows(
              IllegalArgumentException.class,
              () -> SignalWait.untilEqual(bulk, 0, 1, Ends.TIMEOUT));
      assertTrue(e.getMessage().contains("Ordering.STRICT"), e.getMessage());
    }
  }
}
