// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class SignalWaitTest {
  @Test
  void aCounterIsAwaited() throws InterruptedException {
    try (Pair pair = new Pair();
        Batch batch =
            Batch.of(
                pair.qp,
                new WorkRequest.FetchAdd(pair.local.local(0, 8), pair.remote.remote(16, 8), 3))) {
      for (int i = 0; i < 4; i++) {
        pair.caller.submit(batch);
      }
      assertEquals(12, SignalWait.untilAtLeast(pair.remote, 16, 12, Pair.TIMEOUT));
    }
  }

  @Test
  void aWordThatDoesNotComeTimesOut() {
    try (Pair pair = new Pair()) {
      RdmaException e =
          assertThrows(
              RdmaException.class,
              () -> SignalWait.untilEqual(pair.remote, 0, 1, Duration.ofMillis(5)));
      assertEquals(Status.TIMEOUT, e.code());
      assertEquals(QueuePairState.READY, pair.qp.state());
    }
  }

  @Test
  void wordsThatCantBeReadAreRefused() {
    try (Pair pair = new Pair()) {
      assertThrows(
          IllegalArgumentException.class,
          () -> SignalWait.untilEqual(pair.remote, 4, 0, Pair.TIMEOUT));
      assertThrows(
          IndexOutOfBoundsException.class,
          () -> SignalWait.untilEqual(pair.remote, Pair.BYTES, 0, Pair.TIMEOUT));
      pair.remote.close();
      assertThrows(
          IllegalStateException.class,
          () -> SignalWait.untilEqual(pair.remote, 0, 0, Pair.TIMEOUT));
    }
  }

  @Test
  void theWordIsReadInTheHostsByteOrder() throws InterruptedException {
    try (Pair pair = new Pair()) {
      pair.remote.segment().set(JAVA_LONG, 8, 0x0102030405060708L);
      assertEquals(
          0x0102030405060708L,
          SignalWait.untilEqual(pair.remote, 8, 0x0102030405060708L, Pair.TIMEOUT));
    }
  }
}
