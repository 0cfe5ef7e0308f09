// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** The 16-bit indexes of doorbells and completions wrap more than three times on one queue pair. */
class IndexWrapTest {
  private static final long WQES = 210_000;

  @ParameterizedTest
  @EnumSource(
      value = HandOver.class,
      mode = Mode.EXCLUDE,
      names = {"CLASSIC_WITHOUT_LOCK", "TURN_RELAXED"})
  void noRequestIsLostAcrossTheWrap(HandOver handOver) throws InterruptedException {
    SubmitPolicy policy = SubmitPolicy.CLASSIC.handOver(handOver).doorbellEvery(16);
    int lanes = policy.exclusive() ? 1 : 3;
    try (Pair pair = new Pair(QueuePairOptions.builder().depth(1024).policy(policy));
        CpuLanes initiator = CpuLanes.start(lanes)) {
      WorkRequest add =
          new WorkRequest.FetchAdd(pair.local.local(0, 8), pair.remote.remote(0, 8), 1);
      WorkRequest twoBlocks =
          new WorkRequest.Write(
              Collections.nCopies(3, pair.local.local(64, 1)), pair.remote.remote(64, 3));
      List<WorkRequest> requests = new ArrayList<>(Collections.nCopies(200, add));
      requests.add(twoBlocks);
      try (Batch batch = Batch.of(pair.qp, Batch.Signal.LAST, requests)) {
        long ticket = 0;
        long adds = 0;
        while (ticket < WQES) {
          ticket = initiator.submit(batch, Pair.TIMEOUT);
          assertTrue(ticket >= 0, () -> "submit refused");
          adds += 200;
        }
        pair.qp.await(ticket, Pair.TIMEOUT);
        assertEquals(ticket + 2, pair.qp.completed());
        assertEquals(adds, pair.remote.segment().get(JAVA_LONG, 0));
      }
    }
  }
}
