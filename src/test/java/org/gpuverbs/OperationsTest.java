// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OperationsTest {
  private static final int LENGTH = 5000;

  private static byte[] random(MemorySegment into, int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    MemorySegment.copy(bytes, 0, into, ValueLayout.JAVA_BYTE, 0, length);
    return bytes;
  }

  private static byte[] read(MemoryRegion region, long offset, int length) {
    return region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
  }

  @Test
  void aWriteMovesBytesToThePeer() throws Exception {
    try (Pair pair = new Pair()) {
      byte[] expected = random(pair.local.segment(), LENGTH);
      pair.run(pair.write(0, LENGTH));
      assertArrayEquals(expected, read(pair.remote, 0, LENGTH));
    }
  }

  @Test
  void aReadMovesBytesFromThePeer() throws Exception {
    try (Pair pair = new Pair()) {
      byte[] expected = random(pair.remote.segment(), LENGTH);
      pair.run(new WorkRequest.Read(pair.local.local(8, LENGTH), pair.remote.remote(0, LENGTH)));
      assertArrayEquals(expected, read(pair.local, 8, LENGTH));
    }
  }

  @Test
  void aWriteGathersThreeSegmentsInOrder() throws Exception {
    try (Pair pair = new Pair()) {
      byte[] source = random(pair.local.segment(), LENGTH);
      pair.run(
          new WorkRequest.Write(
              List.of(pair.local.local(100, 10), pair.local.local(7, 0), pair.local.local(0, 20)),
              pair.remote.remote(0, 30)));
      byte[] expected = new byte[30];
      System.arraycopy(source, 100, expected, 0, 10);
      System.arraycopy(source, 0, expected, 10, 20);
      assertArrayEquals(expected, read(pair.remote, 0, 30));
    }
  }

  @Test
  void anInlineWriteNeedsNoLocalMemory() throws Exception {
    try (Pair pair = new Pair()) {
      byte[] expected = random(MemorySegment.ofArray(new byte[200]), 200);
      pair.run(new WorkRequest.WriteInline(expected, pair.remote.remote(3, 200)));
      assertArrayEquals(expected, read(pair.remote, 3, 200));
    }
  }

  @Test
  void requestsOfZeroBytesComplete() throws Exception {
    try (Pair pair = new Pair()) {
      RemoteMemory nowhere = pair.remote.remote(0, 0);
      pair.run(
          new WorkRequest.Nop(),
          new WorkRequest.Write(List.of(), nowhere),
          new WorkRequest.Write(pair.local.local(0, 0), nowhere),
          new WorkRequest.WriteInline(new byte[0], nowhere),
          new WorkRequest.Read(List.of(), nowhere));
      assertEquals(5, pair.qp.completed());
    }
  }

  @Test
  void fetchAddReturnsTheOldValueAndAdds() throws Exception {
    try (Pair pair = new Pair()) {
      pair.remote.segment().set(JAVA_LONG, 64, 40);
      WorkRequest add =
          new WorkRequest.FetchAdd(pair.local.local(0, 8), pair.remote.remote(64, 8), 2);
      pair.run(add, add);
      assertEquals(42, pair.local.segment().get(JAVA_LONG, 0));
      assertEquals(44, pair.remote.segment().get(JAVA_LONG, 64));
    }
  }

  @Test
  void compareSwapStoresOnlyWhereItMatches() throws Exception {
    try (Pair pair = new Pair()) {
      pair.remote.segment().set(JAVA_LONG, 0, 5);
      RemoteMemory word = pair.remote.remote(0, 8);
      pair.run(
          new WorkRequest.CompareSwap(pair.local.local(0, 8), word, 5, 6),
          new WorkRequest.CompareSwap(pair.local.local(8, 8), word, 5, 7));
      assertEquals(5, pair.local.segment().get(JAVA_LONG, 0));
      assertEquals(6, pair.local.segment().get(JAVA_LONG, 8));
      assertEquals(6, pair.remote.segment().get(JAVA_LONG, 0));
    }
  }

  @Test
  void aBatchIsChangedInPlace() throws Exception {
    try (Pair pair = new Pair()) {
      byte[] source = random(pair.local.segment(), LENGTH);
      WorkRequest write = new WorkRequest.Write(pair.local.local(0, 8), pair.remote.remote());
      try (Batch batch = Batch.of(pair.qp, write)) {
        batch.localAddress(0, 0, pair.local.address() + 1000);
        batch.remoteAddress(0, pair.remote.address() + 500).length(0, 0, 100);
        pair.qp.await(pair.caller.submit(batch), Pair.TIMEOUT);
      }
      byte[] expected = new byte[100];
      System.arraycopy(source, 1000, expected, 0, 100);
      assertArrayEquals(expected, read(pair.remote, 500, 100));
    }
  }

  @Test
  void aSignalWaitSeesWhatWasWrittenBefore() throws Exception {
    try (Pair pair = new Pair()) {
      byte[] expected = random(pair.local.segment(), LENGTH);
      long signalAt = Pair.BYTES - 8;
      try (Batch batch =
          Batch.of(
              pair.qp,
              pair.write(0, LENGTH),
              new WorkRequest.WriteInline(7L, pair.remote.remote(signalAt, 8)))) {
        assertTrue(pair.caller.submit(batch) >= 0);
        SignalWait.untilEqual(pair.remote, signalAt, 7, Pair.TIMEOUT);
      }
      assertArrayEquals(expected, read(pair.remote, 0, LENGTH));
    }
  }
}
