// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CompletionQueue;
import org.gpuverbs.Completions;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.Path;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.QueuePairState;
import org.gpuverbs.Status;
import org.gpuverbs.SubmitPolicy;
import org.gpuverbs.WorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Completion queues, counters that wrap, resets and submit policies by path DIRECT. */
@OnStandIn
@Timeout(120)
class DirectQueuesTest {
  /** More than the 16 bits of the counters in WQEs, CQEs and doorbells. */
  private static final int MANY = 70_400;

  private static final int BATCH = 64;

  static List<SubmitPolicy> policies() {
    return List.of(
        SubmitPolicy.CLASSIC,
        SubmitPolicy.CLASSIC.doorbellEvery(16),
        SubmitPolicy.TURN,
        SubmitPolicy.BITMAP,
        SubmitPolicy.EXCLUSIVE);
  }

  @ParameterizedTest
  @MethodSource("policies")
  void noRequestIsLostAcrossTheWrap(SubmitPolicy policy) throws Exception {
    QueuePairOptions.Builder options = QueuePairOptions.builder().policy(policy);
    int lanes = policy.equals(SubmitPolicy.EXCLUSIVE) ? 1 : 4;
    try (Ends ends = new Ends(options);
        CpuLanes workers = CpuLanes.start(lanes)) {
      WorkRequest[] adds = new WorkRequest[BATCH];
      for (int i = 0; i < BATCH; i++) {
        adds[i] =
            new WorkRequest.FetchAdd(ends.local.local(8L * i, 8), ends.remote.remote(0, 8), 1);
      }
      try (Batch batch = Batch.of(ends.qp, adds)) {
        long last = -1;
        for (int sent = 0; sent < MANY; sent += BATCH) {
          last = workers.submit(batch, Ends.TIMEOUT);
          assertTrue(last >= 0, Status.describe(last));
        }
        ends.qp.await(last, Ends.TIMEOUT);
      }
      assertEquals(MANY, ends.remote.segment().get(JAVA_LONG, 0));
      assertEquals(MANY, ends.qp.completed());
      assertEquals(MANY & 0xffff, ends.qp.queryNic().orElseThrow().sendIndex());
    }
  }

  @Test
  void receivesGoOnAcrossTheWrap() throws Exception {
    try (Ends ends = new Ends()) {
      Completions got = new Completions(BATCH);
      WorkRequest[] sends = new WorkRequest[BATCH];
      java.util.Arrays.fill(sends, new WorkRequest.SendImmediate(List.of(), 9));
      try (Batch batch = Batch.of(ends.qp, sends)) {
        long received = 0;
        for (int sent = 0; sent < MANY; sent += BATCH) {
          for (int i = 0; i < BATCH; i++) {
            assertTrue(ends.peer.postReceive(sent + i) >= 0);
          }
          long ticket = ends.caller.submit(batch, Ends.TIMEOUT);
          while (received < sent + BATCH) {
            Ends.await(ends.received, got);
            for (int k = 0; k < got.size(); k++) {
              assertEquals(received++, got.id(k));
              assertEquals(9, got.immediate(k));
            }
          }
          ends.qp.await(ticket, Ends.TIMEOUT);
        }
        assertEquals(MANY & 0xffff, ends.peer.queryNic().orElseThrow().receiveIndex());
      }
    }
  }

  @Test
  void aFullSendQueueCompletesEveryRequestAcrossTheWrap() throws Exception {
    try (StandInNic one = new StandInNic()) {
      CompletionQueue sent = one.nic.completionQueue(64);
      QueuePair qp =
          one.nic.queuePair(QueuePairOptions.builder().depth(64).sendQueue(sent).build());
      QueuePair peer = one.nic.queuePair(QueuePairOptions.defaults());
      Ends.connect(qp, peer);
      Completions got = new Completions(64);
      WorkRequest[] nops = new WorkRequest[32];
      java.util.Arrays.fill(nops, new WorkRequest.Nop());
      long done = 0;
      try (Batch batch = Batch.of(qp, nops)) {
        for (int i = 0; i < MANY / 32; i++) {
          long ticket;
          while ((ticket = one.caller.submit(batch)) == Status.FULL) {
            done += one.take(sent, got, done);
          }
          assertTrue(ticket >= 0, Status.describe(ticket));
        }
        while (done < MANY) {
          done += one.take(sent, got, done);
        }
      }
      assertEquals(MANY, qp.completed());
    }
  }

  @Test
  void queuePairsShareACompletionQueue() throws Exception {
    try (StandInNic one = new StandInNic()) {
      int pairs = 6;
      CompletionQueue shared = one.nic.completionQueue(1024);
      List<QueuePair> all = new ArrayList<>();
      Map<Integer, Integer> sends = new HashMap<>();
      Map<Integer, Integer> receives = new HashMap<>();
      for (int i = 0; i < 2 * pairs; i++) {
        all.add(
            one.nic.queuePair(
                QueuePairOptions.builder()
                    .depth(64)
                    .sendQueue(shared)
                    .receiveDepth(16)
                    .receiveQueue(shared)
                    .build()));
      }
      for (int i = 0; i < pairs; i++) {
        Ends.connect(all.get(i), all.get(i + pairs));
        for (int k = 0; k < 16; k++) {
          assertTrue(all.get(i + pairs).postReceive(k) >= 0);
        }
      }
      for (QueuePair qp : all.subList(0, pairs)) {
        WorkRequest[] requests = new WorkRequest[16];
        java.util.Arrays.fill(requests, new WorkRequest.Send(List.of()));
        try (Batch batch = Batch.of(qp, requests)) {
          assertTrue(one.caller.submit(batch) >= 0);
        }
      }
      Completions got = new Completions(32);
      for (int n = 0; n < 2 * pairs * 16; n += got.size()) {
        Ends.await(shared, got);
        for (int k = 0; k < got.size(); k++) {
          assertEquals(Status.DONE, got.status(k));
          (got.isReceive(k) ? receives : sends).merge(got.qpNumber(k), 1, Integer::sum);
        }
      }
      for (int i = 0; i < pairs; i++) {
        assertEquals(16, sends.get(all.get(i).number()));
        assertEquals(16, receives.get(all.get(i + pairs).number()));
      }
    }
  }

  @Test
  void aResetQueuePairConnectsAgainWithAFreshSequence() throws Exception {
    try (Ends ends = new Ends()) {
      QueuePairAddress before = ends.qp.address();
      ends.run(ends.write(0, 8), ends.write(0, 8));
      for (int i = 0; i < 3; i++) {
        ends.qp.reset();
        ends.peer.reset();
        assertEquals(QueuePairState.RESET, ends.qp.state());
        assertEquals(DevxQueue.INIT, StandIn.queuePair(ends.qp.number()).state());
        assertEquals(before.number(), ends.qp.address().number());
        assertNotEquals(before.packetSequence(), ends.qp.address().packetSequence());
        Ends.connect(ends.qp, ends.peer);
        ends.local.segment().set(JAVA_LONG, 0, 100 + i);
        ends.run(ends.write(0, 8));
        assertEquals(100 + i, ends.remote.segment().get(JAVA_LONG, 0));
        assertEquals(1, ends.qp.completed());
      }
    }
  }

  @Test
  void aCompletionQueueServesOnePath() {
    try (StandInNic one = new StandInNic()) {
      CompletionQueue queue = one.nic.completionQueue(1024);
      QueuePairOptions.Builder options = QueuePairOptions.builder().depth(64).sendQueue(queue);
      one.nic.queuePair(options.path(Path.DIRECT).build());
      IllegalArgumentException e =
          assertThrows(
              IllegalArgumentException.class,
              () -> one.nic.queuePair(options.path(Path.PROXY).build()));
      assertTrue(e.getMessage().contains("serves queue pairs of path DIRECT"), e.getMessage());
      // Nothing was kept of the one that was refused.
      one.nic.queuePair(options.path(Path.DIRECT).build()).close();
    }
  }

  @Test
  void queuePairsOfTwoDevicesConnect() throws Exception {
    try (StandInNic one = new StandInNic(StandIn.start().set("devices", 2));
        Nic other = Nic.open(Ends.device("mlx5_1"));
        MemoryRegion target = other.allocate(64, Access.REMOTE_WRITE)) {
      QueuePair qp = one.nic.queuePair(QueuePairOptions.defaults());
      QueuePair peer = other.queuePair(QueuePairOptions.defaults());
      assertNotEquals(one.nic.guid(), other.guid());
      Ends.connect(qp, peer);
      assertEquals(1, StandIn.queuePair(qp.number()).remoteDevice());
      try (Batch batch = Batch.of(qp, new WorkRequest.WriteInline(5L, target.remote(0, 8)))) {
        qp.await(one.caller.submit(batch), Ends.TIMEOUT);
      }
      assertEquals(5, target.segment().get(JAVA_LONG, 0));
      other.close();
    }
  }
}
