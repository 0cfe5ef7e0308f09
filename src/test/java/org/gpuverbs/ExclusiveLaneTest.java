// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ExclusiveLaneTest {
  private static final int ROUNDS = 200;
  private static final int BATCHES = 60;
  private static final int REQUESTS = 16;

  /** The caller reserves the next batch while the lane still publishes the one before. */
  @Test
  void aLaneThatPublishesTakesNoLaterReservationBack() throws Exception {
    QueuePairOptions options =
        QueuePairOptions.builder().policy(SubmitPolicy.EXCLUSIVE).depth(1024).build();
    List<WorkRequest> requests = Collections.nCopies(REQUESTS, new WorkRequest.Nop());
    try (Nic nic = Nic.open();
        QueuePair here = nic.queuePair(options);
        QueuePair there = nic.queuePair(options);
        CpuLanes lane = CpuLanes.start(1)) {
      here.connect(there.address());
      there.connect(here.address());
      List<Batch> batches = new ArrayList<>();
      for (int i = 0; i < BATCHES; i++) {
        batches.add(Batch.of(here, Batch.Signal.LAST, requests));
      }
      long expected = -1;
      for (int round = 0; round < ROUNDS; round++) {
        for (Batch batch : batches) {
          expected += REQUESTS;
          assertEquals(expected, lane.submit(batch, Duration.ofSeconds(20)));
        }
        here.await(expected, Duration.ofSeconds(20));
      }
      assertEquals((long) ROUNDS * BATCHES * REQUESTS, here.counters().submitted());
    }
  }
}
