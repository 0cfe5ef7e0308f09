// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a request that fails looks like to the caller. */
class ErrorTest {
  private final Pair pair = new Pair();

  @AfterEach
  void close() {
    pair.close();
  }

  private RdmaException failure(WorkRequest... requests) {
    try (Batch batch = Batch.of(pair.qp, requests)) {
      long ticket = pair.caller.submit(batch);
      return assertThrows(RdmaException.class, () -> pair.qp.await(ticket, Pair.TIMEOUT));
    }
  }

  @Test
  void aClosedArenaFailsTheWriteThatReadsIt() {
    Arena arena = Arena.ofShared();
    MemoryRegion region = pair.nic.register(arena.allocate(64));
    arena.close();
    RdmaException e = failure(new WorkRequest.Write(region.local(), pair.remote.remote(0, 64)));
    assertEquals(Syndrome.LOCAL_PROTECTION, e.syndrome());
    assertEquals(QueuePairState.ERROR, pair.qp.state());
  }

  @Test
  void aRegionClosedAfterTheBatchWasBuiltFailsTheRequest() {
    MemoryRegion region = pair.nic.allocate(64);
    try (Batch batch =
        Batch.of(pair.qp, new WorkRequest.Write(region.local(), pair.remote.remote(0, 64)))) {
      region.close();
      long ticket = pair.caller.submit(batch);
      RdmaException e =
          assertThrows(RdmaException.class, () -> pair.qp.await(ticket, Pair.TIMEOUT));
      assertEquals(Syndrome.LOCAL_PROTECTION, e.syndrome());
    }
  }

  @Test
  void aRangeBeyondThePeersRegionIsARemoteAccessError() {
    RemoteMemory real = pair.remote.remote();
    RemoteMemory beyond = new RemoteMemory(real.address() + real.length() - 4, 8, real.rkey());
    RdmaException e = failure(new WorkRequest.WriteInline(1L, beyond));
    assertEquals(Syndrome.REMOTE_ACCESS, e.syndrome());
    assertTrue(e.hint().contains("region"), e.hint());
  }

  @Test
  void aKeyThatNobodyGaveIsARemoteAccessError() {
    RemoteMemory real = pair.remote.remote(0, 8);
    RemoteMemory forged = new RemoteMemory(real.address(), 8, ~real.rkey());
    assertEquals(
        Syndrome.REMOTE_ACCESS, failure(new WorkRequest.WriteInline(1L, forged)).syndrome());
  }

  @Test
  void accessThatWasNotGrantedIsARemoteAccessError() {
    try (MemoryRegion readable = pair.nic.allocate(64, Access.REMOTE_READ)) {
      assertEquals(
          Syndrome.REMOTE_ACCESS,
          failure(new WorkRequest.WriteInline(1L, readable.remote(0, 8))).syndrome());
    }
  }

  @Test
  void theFirstErrorIsKeptAndTheRestIsFlushed() throws InterruptedException {
    RemoteMemory real = pair.remote.remote(0, 8);
    RemoteMemory forged = new RemoteMemory(real.address(), 8, ~real.rkey());
    WorkRequest good = new WorkRequest.WriteInline(1L, real);
    try (Batch batch =
        Batch.of(pair.qp, good, good, new WorkRequest.WriteInline(1L, forged), good)) {
      long last = pair.caller.submit(batch);
      assertThrows(RdmaException.class, () -> pair.qp.await(last, Pair.TIMEOUT));
      assertEquals(Status.DONE, pair.qp.poll(1));
      assertEquals(Syndrome.REMOTE_ACCESS, pair.qp.poll(2));
      assertEquals(Syndrome.FLUSHED, pair.qp.poll(last));
      assertEquals(Syndrome.REMOTE_ACCESS, pair.qp.errorSyndrome());
      assertEquals(2, pair.qp.errorTicket());
    }
  }

  @Test
  void aQueuePairInErrorRefusesRequestsUntilReset() throws InterruptedException {
    RemoteMemory forged = new RemoteMemory(8, 8, 0);
    failure(new WorkRequest.WriteInline(1L, forged));
    try (Batch batch = Batch.of(pair.qp, pair.write(0, 8))) {
      assertEquals(Status.QP_ERROR, pair.caller.submit(batch));
      pair.qp.reset();
      pair.peer.reset();
      Pair.connect(pair.qp, pair.peer);
      pair.qp.await(pair.caller.submit(batch), Pair.TIMEOUT);
    }
  }

  @Test
  void aMessageLongerThanItsReceiveFailsBothEnds() {
    pair.peer.postReceive(7, pair.remote.local(0, 8));
    RdmaException e = failure(pair.send(9));
    assertEquals(Syndrome.REMOTE_INVALID_REQUEST, e.syndrome());
    Completions completions = new Completions(4);
    CompletionQueueTest.awaitCompletions(pair.received, completions);
    assertEquals(7, completions.id(0));
    assertEquals(Status.QP_ERROR, completions.status(0));
    assertEquals(Syndrome.LOCAL_LENGTH, completions.syndrome(0));
    assertEquals(QueuePairState.ERROR, pair.peer.state());
  }

  @Test
  void awaitingASentinelThrowsIt() {
    RdmaException e =
        assertThrows(RdmaException.class, () -> pair.qp.await(Status.FULL, Pair.TIMEOUT));
    assertEquals(Status.FULL, e.code());
    assertTrue(e.getMessage().contains("FULL"), e.getMessage());
  }

  @Test
  void everyStatusAndSyndromeIsDescribed() {
    for (long status = Status.BUSY; status <= 0; status++) {
      assertTrue(Status.describe(status).matches("[A-Z_]+: .+"), Status.describe(status));
    }
    for (int syndrome : new int[] {1, 2, 4, 5, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x22}) {
      String text = Status.describe(syndrome);
      assertTrue(text.matches("[A-Z_]+ \\(0x..\\): .+"), text);
      assertTrue(!text.startsWith("UNKNOWN"), text);
    }
  }
}
