// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** The built-in kernels as initiator. */
@GpuTest
class GpuStreamTest {
  private final Gpu gpu = Gpu.open(0);
  private final GpuStream stream = GpuStream.open(gpu);

  @AfterEach
  void close() {
    stream.close();
    gpu.close();
  }

  private static QueuePairOptions.Builder policy(HandOver handOver) {
    return QueuePairOptions.builder().policy(SubmitPolicy.CLASSIC.handOver(handOver));
  }

  private GpuPair pair(Payload.Kind kind) {
    return new GpuPair(gpu, kind, QueuePairOptions.builder());
  }

  @ParameterizedTest
  @EnumSource(
      value = HandOver.class,
      mode = Mode.EXCLUDE,
      names = {"CLASSIC_WITHOUT_LOCK", "TURN_RELAXED"})
  void everyPolicyMovesEveryByte(HandOver handOver) throws InterruptedException {
    try (GpuPair pair = new GpuPair(gpu, Payload.Kind.PINNED, policy(handOver))) {
      moves(pair);
    }
  }

  @ParameterizedTest
  @EnumSource(Payload.Kind.class)
  void everyKindOfPayloadMoves(Payload.Kind kind) throws InterruptedException {
    try (GpuPair pair = pair(kind)) {
      moves(pair);
    }
  }

  /** Scattered WRITEs of many sizes, then READs back to another place, then adds. */
  private void moves(GpuPair pair) throws InterruptedException {
    byte[] bytes = new byte[GpuPair.BYTES / 2];
    new Random(11).nextBytes(bytes);
    pair.local.set(0, bytes);
    List<WorkRequest> writes = new ArrayList<>();
    List<WorkRequest> reads = new ArrayList<>();
    for (int at = 0, length = 1; at < bytes.length; at += length, length = at % 257 + 1) {
      int n = Math.min(length, bytes.length - at);
      writes.add(pair.write(at, at, n));
      reads.add(
          new WorkRequest.Read(
              pair.local.region.local(bytes.length + at, n), pair.remote.region.remote(at, n)));
    }
    run(pair, writes);
    run(pair, reads);
    byte[] local = pair.local.bytes();
    assertArrayEquals(bytes, Arrays.copyOf(pair.remote.bytes(), bytes.length));
    assertArrayEquals(bytes, Arrays.copyOfRange(local, bytes.length, local.length));
    pair.remote.setLong(0, 5);
    run(pair, Collections.nCopies(300, pair.add(0, 2)));
    assertEquals(605, pair.remote.getLong(0));
    assertEquals(603, pair.local.getLong(0));
  }

  private void run(GpuPair pair, List<WorkRequest> requests) throws InterruptedException {
    for (int at = 0; at < requests.size(); at += 100) {
      List<WorkRequest> some = requests.subList(at, Math.min(at + 100, requests.size()));
      try (Batch batch = Batch.of(pair.qp, Batch.Signal.LAST, some)) {
        long ticket = stream.submit(batch, GpuPair.TIMEOUT);
        assertTrue(ticket >= 0, Status.describe(ticket));
        pair.qp.await(ticket, GpuPair.TIMEOUT);
      }
    }
  }

  @Test
  void ticketsNameTheLastRequestsFirstBlock() throws InterruptedException {
    try (GpuPair pair = pair(Payload.Kind.HOST);
        Batch three =
            Batch.of(
                pair.qp,
                new WorkRequest.Nop(),
                new WorkRequest.Nop(),
                new WorkRequest.Write(
                    Collections.nCopies(3, pair.local.region.local(64, 1)),
                    pair.remote.region.remote(64, 3)))) {
      assertEquals(2, stream.submit(three));
      assertEquals(6, stream.submit(three));
      stream.await(6, GpuPair.TIMEOUT);
      assertEquals(8, pair.qp.completed());
      assertEquals(8, pair.qp.counters().submitted());
    }
  }

  @Test
  void aFullQueueSaysSoAtTheCall() throws InterruptedException {
    QueuePairOptions.Builder options = QueuePairOptions.builder().depth(64);
    try (Nic nic = Nic.open();
        QueuePair lonely = nic.queuePair(options.gpu(gpu).build());
        QueuePair peer = nic.queuePair(QueuePairOptions.defaults())) {
      // The peer is not connected back yet, so that nothing completes.
      lonely.connect(peer.address());
      MemoryRegion memory = nic.allocate(64, Access.values());
      WorkRequest write = new WorkRequest.Write(memory.local(), memory.remote());
      try (Batch batch = Batch.of(lonely, Batch.Signal.LAST, Collections.nCopies(40, write))) {
        assertEquals(39, stream.submit(batch));
        assertEquals(Status.FULL, stream.submit(batch));
        assertEquals(1, lonely.counters().full());
        peer.connect(lonely.address());
        assertEquals(79, stream.submit(batch, GpuPair.TIMEOUT));
        lonely.await(79, GpuPair.TIMEOUT);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = HandOver.class,
      mode = Mode.EXCLUDE,
      names = {"CLASSIC_WITHOUT_LOCK", "TURN_RELAXED"})
  void noRequestIsLostAcrossTheWrapOfSixteenBits(HandOver handOver) throws InterruptedException {
    try (GpuPair pair = new GpuPair(gpu, Payload.Kind.PINNED, policy(handOver))) {
      List<WorkRequest> requests = new ArrayList<>(Collections.nCopies(200, pair.add(0, 1)));
      requests.add(
          new WorkRequest.Write(
              Collections.nCopies(3, pair.local.region.local(64, 1)),
              pair.remote.region.remote(64, 3)));
      try (Batch batch = Batch.of(pair.qp, Batch.Signal.LAST, requests)) {
        long ticket = 0;
        long adds = 0;
        while (ticket < 210_000) {
          ticket = stream.submit(batch, GpuPair.TIMEOUT);
          assertTrue(ticket >= 0, Status.describe(ticket));
          adds += 200;
        }
        pair.qp.await(ticket, GpuPair.TIMEOUT);
        assertEquals(ticket + 2, pair.qp.completed());
        assertEquals(adds, pair.remote.getLong(0));
      }
    }
  }

  @Test
  void receivesAndImmediatesWork() {
    try (Nic nic = Nic.open()) {
      CompletionQueue received = nic.completionQueue(64);
      QueuePair qp = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build());
      QueuePair peer =
          nic.queuePair(
              QueuePairOptions.builder().gpu(gpu).receiveDepth(64).receiveQueue(received).build());
      Pair.connect(qp, peer);
      Payload from = new Payload(nic, gpu, Payload.Kind.DEVICE, 64, Access.values());
      Payload to = new Payload(nic, gpu, Payload.Kind.DEVICE, 64, Access.values());
      from.set(0, (byte) 9);
      peer.postReceive(7, to.region.local());
      try (Batch batch =
          Batch.of(qp, new WorkRequest.SendImmediate(from.region.local(0, 8), 0xabc))) {
        assertTrue(stream.submit(batch) >= 0);
        Completions completions = new Completions(4);
        CompletionQueueTest.awaitCompletions(received, completions);
        assertEquals(7, completions.id(0));
        assertEquals(0xabc, completions.immediate(0));
        assertEquals(9, to.get(0));
      }
      from.close();
      to.close();
    }
  }

  @Test
  void aFullSendQueueCompletesEveryRequestThere() {
    try (Nic nic = Nic.open()) {
      CompletionQueue sent = nic.completionQueue(256);
      QueuePair qp =
          nic.queuePair(QueuePairOptions.builder().depth(64).gpu(gpu).sendQueue(sent).build());
      QueuePair peer = nic.queuePair(QueuePairOptions.defaults());
      Pair.connect(qp, peer);
      Payload memory = new Payload(nic, gpu, Payload.Kind.DEVICE, 64, Access.values());
      WorkRequest write =
          new WorkRequest.Write(memory.region.local(0, 8), memory.region.remote(8, 8));
      Completions completions = new Completions(64);
      try (Batch batch = Batch.of(qp, Batch.Signal.LAST, Collections.nCopies(20, write))) {
        int[] seen = new int[1];
        for (int round = 1; round <= 10; round++) {
          int wanted = 20 * round;
          assertEquals(wanted - 1, stream.submit(batch));
          Await.until(
              () -> {
                seen[0] += sent.poll(completions);
                return seen[0] == wanted;
              });
        }
      }
      IllegalStateException e = assertThrows(IllegalStateException.class, qp::deviceHandle);
      assertTrue(e.getMessage().contains("GPU stream initiator"), e.getMessage());
      memory.close();
    }
  }

  @Test
  void anErrorReachesTheCaller() {
    try (GpuPair pair = pair(Payload.Kind.DEVICE)) {
      RemoteMemory real = pair.remote.region.remote(0, 8);
      RemoteMemory forged = new RemoteMemory(real.address(), 8, ~real.rkey());
      WorkRequest good = pair.write(0, 0, 8);
      WorkRequest bad = new WorkRequest.Write(pair.local.region.local(0, 8), forged);
      try (Batch batch = Batch.of(pair.qp, good, good, bad, good)) {
        long last = stream.submit(batch);
        assertThrows(RdmaException.class, () -> pair.qp.await(last, GpuPair.TIMEOUT));
        assertEquals(Status.DONE, pair.qp.poll(1));
        assertEquals(Syndrome.REMOTE_ACCESS, pair.qp.poll(2));
        assertEquals(Syndrome.FLUSHED, pair.qp.poll(last));
        assertEquals(QueuePairState.ERROR, pair.qp.state());
        assertEquals(2, pair.qp.errorTicket());
        assertEquals(Status.QP_ERROR, stream.submit(batch));
        pair.qp.reset();
        pair.peer.reset();
        Pair.connect(pair.qp, pair.peer);
      }
      try (Batch batch = Batch.of(pair.qp, good)) {
        assertEquals(0, stream.submit(batch));
        stream.await(0, GpuPair.TIMEOUT);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void aQueuePairHasOneSubmitter() {
    try (GpuPair pair = pair(Payload.Kind.HOST);
        GpuPair handed = pair(Payload.Kind.HOST);
        GpuStream other = GpuStream.open(gpu);
        CpuLanes cpu = CpuLanes.caller();
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop());
        Batch refused = Batch.of(handed.qp, new WorkRequest.Nop())) {
      assertEquals(0, stream.submit(batch));
      assertRefused(stream.toString(), () -> other.submit(batch));
      assertRefused("queue pair of a GPU", () -> cpu.submit(batch));
      assertRefused(stream.toString(), pair.qp::deviceHandle);
      assertTrue(handed.qp.deviceHandle() != 0);
      assertRefused("handle", () -> stream.submit(refused));
      stream.close();
      assertEquals(1, other.submit(batch));
    }
  }

  @Test
  void aRingWithoutRoomForAWarpIsOnlyForStreams() {
    SubmitPolicy policy = SubmitPolicy.TURN.doorbellEvery(128);
    QueuePairOptions.Builder options = QueuePairOptions.builder().depth(128).policy(policy);
    try (GpuPair pair = new GpuPair(gpu, Payload.Kind.PINNED, options);
        GpuPair larger = new GpuPair(gpu, Payload.Kind.PINNED, options.depth(256));
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop())) {
      assertRefused("a depth of 256", pair.qp::deviceHandle);
      assertEquals(0, stream.submit(batch));
      assertTrue(larger.qp.deviceHandle() != 0);
    }
  }

  @Test
  void aQueuePairOfTheCpuIsRefused() {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop())) {
      assertRefused("options.gpu(gpu)", () -> stream.submit(batch));
    }
  }

  @Test
  void aQueueInGpuMemoryIsRefusedByTheSoftwareNic() {
    try (Nic nic = Nic.open()) {
      QueuePairOptions options =
          QueuePairOptions.builder()
              .gpu(gpu)
              .placement(Placement.GPU)
              .policy(SubmitPolicy.TURN.fenceMode(FenceMode.DEVICE))
              .build();
      RdmaException e = assertThrows(RdmaException.class, () -> nic.queuePair(options));
      assertTrue(e.getMessage().contains("Placement.HOST"), e.getMessage());
    }
  }

  @Test
  void aNullStreamServesToo() throws InterruptedException {
    try (GpuPair pair = pair(Payload.Kind.DEVICE);
        GpuStream zero = GpuStream.on(gpu, 0);
        Batch batch = Batch.of(pair.qp, pair.add(8, 3))) {
      pair.qp.await(zero.submit(batch), GpuPair.TIMEOUT);
      assertEquals(3, pair.remote.getLong(8));
    }
  }

  @Test
  void submitAllocatesNothing() {
    try (GpuPair pair = pair(Payload.Kind.HOST);
        Batch batch = Batch.of(pair.qp, pair.write(0, 0, 64), pair.write(64, 64, 64))) {
      AllocationTest.assertAllocatesNothing(() -> stream.submit(batch));
    }
  }

  private static void assertRefused(String reason, org.junit.jupiter.api.function.Executable call) {
    IllegalStateException e = assertThrows(IllegalStateException.class, call);
    assertTrue(e.getMessage().contains(reason), e.getMessage());
  }
}
