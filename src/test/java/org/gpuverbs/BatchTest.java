// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import org.gpuverbs.Batch.Signal;
import org.gpuverbs.internal.softnic.SoftNicConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatchTest {
  private static final int DEPTH = 64;
  private static final int MAX_MESSAGE = 1 << 15;

  private final Pair pair =
      new Pair(
          SoftNicConfig.defaults().withMaxMessageBytes(MAX_MESSAGE),
          QueuePairOptions.builder().depth(DEPTH).maxInline(100));

  @AfterEach
  void close() {
    pair.close();
  }

  private void assertRefused(String part, WorkRequest request) {
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () -> Batch.of(pair.qp, new WorkRequest.Nop(), request));
    assertTrue(e.getMessage().contains("request 1"), e.getMessage());
    assertTrue(e.getMessage().contains(part), e.getMessage());
  }

  private RemoteMemory remote(long offset, long length) {
    return pair.remote.remote(offset, length);
  }

  @Test
  void anEmptyBatchIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> Batch.of(pair.qp));
  }

  @Test
  void aBatchLargerThanTheRingIsRefused() {
    List<WorkRequest> fits = Collections.nCopies(DEPTH, new WorkRequest.Nop());
    Batch.of(pair.qp, Signal.LAST, fits).close();
    List<WorkRequest> tooMany = Collections.nCopies(DEPTH + 1, new WorkRequest.Nop());
    assertThrows(IllegalArgumentException.class, () -> Batch.of(pair.qp, Signal.LAST, tooMany));
  }

  @Test
  void aBatchOfManyBlocksThatIsLargerThanTheRingIsRefused() {
    WorkRequest twoBlocks =
        new WorkRequest.Write(Collections.nCopies(3, pair.local.local(0, 1)), remote(0, 3));
    List<WorkRequest> requests = Collections.nCopies(DEPTH / 2 + 1, twoBlocks);
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class, () -> Batch.of(pair.qp, Signal.LAST, requests));
    assertTrue(e.getMessage().contains("66 basic blocks"), e.getMessage());
  }

  @Test
  void sizesInBasicBlocksFollowTheSegments() {
    LocalMemory eight = pair.local.local(0, 8);
    LocalMemory none = pair.local.local(0, 0);
    assertEquals(1, blocks(new WorkRequest.Nop()));
    assertEquals(1, blocks(new WorkRequest.Write(List.of(eight, eight), remote(0, 16))));
    assertEquals(2, blocks(new WorkRequest.Write(List.of(eight, eight, eight), remote(0, 24))));
    assertEquals(1, blocks(new WorkRequest.Write(List.of(eight, none, eight), remote(0, 16))));
    assertEquals(1, blocks(new WorkRequest.Send(List.of(eight, eight, eight))));
    assertEquals(1, blocks(new WorkRequest.FetchAdd(eight, remote(0, 8), 1)));
    assertEquals(1, blocks(new WorkRequest.WriteInline(new byte[28], remote(0, 28))));
    assertEquals(2, blocks(new WorkRequest.WriteInline(new byte[29], remote(0, 29))));
    assertEquals(2, blocks(new WorkRequest.WriteInline(new byte[92], remote(0, 92))));
    assertEquals(3, blocks(new WorkRequest.WriteInline(new byte[93], remote(0, 93))));
  }

  private int blocks(WorkRequest request) {
    try (Batch batch = Batch.of(pair.qp, request)) {
      return batch.wqebbs();
    }
  }

  @Test
  void memoryOfAnotherNicIsRefused() {
    try (Nic other = Nic.open();
        MemoryRegion foreign = other.allocate(64)) {
      assertRefused("another NIC", new WorkRequest.Write(foreign.local(), remote(0, 64)));
    }
  }

  @Test
  void aClosedRegionIsRefused() {
    MemoryRegion region = pair.nic.allocate(64);
    LocalMemory memory = region.local();
    region.close();
    assertThrows(
        IllegalStateException.class,
        () -> Batch.of(pair.qp, new WorkRequest.Write(memory, remote(0, 64))));
  }

  @Test
  void readingIntoReadOnlyMemoryIsRefused() {
    try (MemoryRegion region = pair.nic.allocate(64)) {
      assertRefused("LOCAL_WRITE", new WorkRequest.Read(region.local(), remote(0, 64)));
      assertRefused("LOCAL_WRITE", new WorkRequest.FetchAdd(region.local(0, 8), remote(0, 8), 1));
    }
  }

  @Test
  void aMessageLongerThanThePortsMaximumIsRefused() {
    LocalMemory half = pair.local.local(0, MAX_MESSAGE / 2 + 1);
    assertRefused("maximum", new WorkRequest.Send(List.of(half, half)));
  }

  @Test
  void aMessageLongerThanTheRemoteRangeIsRefused() {
    assertRefused("remote range", new WorkRequest.Write(pair.local.local(0, 9), remote(0, 8)));
    assertRefused("remote range", new WorkRequest.WriteInline(1L, remote(0, 7)));
  }

  @Test
  void anUnalignedAtomicIsRefusedOnBothSides() {
    LocalMemory aligned = pair.local.local(0, 8);
    LocalMemory unaligned = pair.local.local(4, 8);
    assertRefused("local", new WorkRequest.FetchAdd(unaligned, remote(0, 8), 1));
    assertRefused("remote", new WorkRequest.FetchAdd(aligned, remote(4, 8), 1));
    assertRefused("local", new WorkRequest.CompareSwap(unaligned, remote(0, 8), 1, 2));
    assertRefused("remote", new WorkRequest.CompareSwap(aligned, remote(4, 8), 1, 2));
  }

  @Test
  void anAtomicsResultHasEightBytes() {
    assertRefused("8", new WorkRequest.FetchAdd(pair.local.local(0, 16), remote(0, 8), 1));
  }

  @Test
  void tooMuchInlineDataIsRefused() {
    assertRefused("maxInline", new WorkRequest.WriteInline(new byte[101], remote(0, 101)));
  }

  @Test
  void fourSegmentsAreRefused() {
    List<LocalMemory> four = Collections.nCopies(4, pair.local.local(0, 1));
    assertThrows(IllegalArgumentException.class, () -> new WorkRequest.Send(four));
  }

  @Test
  void changesAreCheckedAgainstTheRanges() {
    WorkRequest write = new WorkRequest.Write(pair.local.local(0, 8), remote(64, 64));
    try (Batch batch = Batch.of(pair.qp, write)) {
      long far = pair.remote.address() + 64 + 57;
      assertThrows(IndexOutOfBoundsException.class, () -> batch.remoteAddress(0, far));
      assertThrows(
          IndexOutOfBoundsException.class,
          () -> batch.remoteAddress(0, pair.remote.address() + 63));
      batch.remoteAddress(0, far - 1);
      long end = pair.local.address() + Pair.BYTES;
      assertThrows(IndexOutOfBoundsException.class, () -> batch.localAddress(0, 0, end - 7));
      batch.localAddress(0, 0, end - 8);
      assertThrows(IndexOutOfBoundsException.class, () -> batch.length(0, 0, 9));
      assertThrows(IndexOutOfBoundsException.class, () -> batch.localAddress(0, 1, end - 8));
      assertThrows(IndexOutOfBoundsException.class, () -> batch.remoteAddress(1, far - 1));
      assertThrows(IllegalArgumentException.class, () -> batch.immediate(0, 1));
      assertThrows(IllegalArgumentException.class, () -> batch.length(0, 0, -1));
    }
  }

  @Test
  void aChangedLengthChangesTheSize() {
    WorkRequest write =
        new WorkRequest.Write(
            List.of(pair.local.local(0, 8), pair.local.local(0, 0), pair.local.local(0, 8)),
            pair.remote.remote());
    try (Batch batch = Batch.of(pair.qp, write)) {
      assertEquals(1, batch.wqebbs());
      assertEquals(2, batch.length(0, 1, 1).wqebbs());
      assertEquals(1, batch.length(0, 0, 0).wqebbs());
    }
  }

  @Test
  void aChangeThatMakesTheBatchTooLargeIsUndone() {
    WorkRequest write =
        new WorkRequest.Write(
            List.of(pair.local.local(0, 8), pair.local.local(0, 8), pair.local.local(0, 0)),
            pair.remote.remote());
    try (Batch batch = Batch.of(pair.qp, Signal.LAST, Collections.nCopies(DEPTH, write))) {
      assertThrows(IllegalArgumentException.class, () -> batch.length(3, 2, 1));
      assertEquals(DEPTH, batch.wqebbs());
    }
  }

  @Test
  void anAtomicCantBeMovedOffItsAlignment() {
    WorkRequest add = new WorkRequest.FetchAdd(pair.local.local(0, 8), pair.remote.remote(), 1);
    try (Batch batch = Batch.of(pair.qp, add)) {
      assertThrows(
          IllegalArgumentException.class, () -> batch.remoteAddress(0, pair.remote.address() + 4));
      assertThrows(
          IllegalArgumentException.class, () -> batch.localAddress(0, 0, pair.local.address() + 4));
      assertThrows(IllegalArgumentException.class, () -> batch.length(0, 0, 4));
    }
  }

  @Test
  void aClosedBatchRefusesEverything() {
    Batch batch = Batch.of(pair.qp, new WorkRequest.Nop());
    batch.close();
    batch.close();
    assertThrows(IllegalStateException.class, () -> pair.caller.submit(batch));
    assertThrows(IllegalStateException.class, () -> batch.immediate(0, 1));
  }
}
