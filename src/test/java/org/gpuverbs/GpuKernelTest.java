// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kernels of the user's own, compiled from Java, with the queue pair's handle. */
@GpuTest(compiler = true)
class GpuKernelTest {
  private static Kernels kernels;

  @BeforeAll
  static void open() {
    kernels = new Kernels();
  }

  @AfterAll
  static void close() {
    kernels.close();
  }

  private static GpuPair pair(Payload.Kind kind, SubmitPolicy policy) {
    return new GpuPair(kernels.gpu, kind, QueuePairOptions.builder().depth(1024).policy(policy));
  }

  private static GpuPair pair(Payload.Kind kind) {
    return pair(kind, SubmitPolicy.TURN);
  }

  private static void assertStatuses(int count) {
    for (int i = 0; i < count; i++) {
      assertEquals(Status.DONE, kernels.status(i), "thread " + i);
    }
  }

  /** Runs a kernel that puts 64 bytes a thread; the far end must have them. */
  private static void puts(GpuPair pair, String kernel, int grid, int block, int rounds)
      throws InterruptedException {
    byte[] bytes = new byte[64 * grid * block];
    new Random(grid).nextBytes(bytes);
    pair.local.set(0, bytes);
    kernels.run(
        kernel,
        grid,
        block,
        pair.qp,
        pair.local.region.address(),
        pair.local.region.lkey(),
        pair.remote.region.address(),
        pair.remote.region.remote().rkey(),
        rounds,
        kernels.status);
    assertStatuses(grid * block);
    assertArrayEquals(bytes, Arrays.copyOf(pair.remote.bytes(), bytes.length));
  }

  @ParameterizedTest
  @EnumSource(Payload.Kind.class)
  void threadsPut(Payload.Kind kind) throws InterruptedException {
    try (GpuPair pair = pair(kind)) {
      puts(pair, "put_rounds", 4, 128, 20);
    }
  }

  @Test
  void aWarpPutsExclusively() throws InterruptedException {
    try (GpuPair pair = pair(Payload.Kind.DEVICE, SubmitPolicy.EXCLUSIVE)) {
      puts(pair, "put_exclusive", 1, 32, 100);
    }
  }

  @Test
  void theCheckedBuildFindsASecondWarpOnAnExclusiveQueue() throws InterruptedException {
    try (GpuPair pair = pair(Payload.Kind.PINNED, SubmitPolicy.EXCLUSIVE)) {
      kernels.status.segment().fill((byte) -1);
      kernels
          .gpu
          .compile(Kernels.source(), "put_exclusive", List.of(Gpu.CHECK))
          .launch(
              0,
              1,
              64,
              pair.qp,
              pair.local.region.address(),
              pair.local.region.lkey(),
              pair.remote.region.address(),
              pair.remote.region.remote().rkey(),
              100,
              kernels.status);
      kernels.zero.synchronize(Kernels.TIMEOUT);
      assertTrue(
          IntStream.range(0, 64).anyMatch(i -> kernels.status(i) == Status.QP_ERROR),
          "no warp was told");
      assertEquals(QueuePairState.ERROR, pair.qp.state());
    }
  }

  @Test
  void aBlockPutsTogether() throws InterruptedException {
    try (GpuPair pair = pair(Payload.Kind.PINNED)) {
      puts(pair, "put_block", 2, 256, 20);
    }
  }

  /** One submitter: also what loses requests of several. */
  @ParameterizedTest
  @EnumSource(HandOver.class)
  void oneKernelServesEveryPolicy(HandOver handOver) throws InterruptedException {
    SubmitPolicy policy = SubmitPolicy.unchecked(handOver, FenceMode.SYSTEM, 1);
    try (GpuPair pair = pair(Payload.Kind.DEVICE, policy)) {
      puts(pair, "any_policy", 1, 1, 300);
    }
  }

  @ParameterizedTest
  @EnumSource(Payload.Kind.class)
  void valuesTravelInTheRequest(Payload.Kind kind) throws InterruptedException {
    try (GpuPair pair = pair(kind)) {
      kernels.run(
          "values",
          2,
          64,
          pair.qp,
          pair.remote.region.address(),
          pair.remote.region.remote().rkey(),
          kernels.status);
      assertStatuses(128);
      ByteBuffer far = ByteBuffer.wrap(pair.remote.bytes()).order(ByteOrder.nativeOrder());
      for (int i = 0; i < 128; i++) {
        assertEquals(1000 + i, far.getLong(8 * i));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Payload.Kind.class)
  void addsCount(Payload.Kind kind) throws InterruptedException {
    Payload.Kind readable = kind == Payload.Kind.HOST ? Payload.Kind.PINNED : kind;
    try (GpuPair pair = pair(readable)) {
      kernels.run(
          "adds",
          2,
          64,
          pair.qp,
          pair.local.region.address(),
          pair.local.region.lkey(),
          pair.remote.region.address(),
          pair.remote.region.remote().rkey(),
          10,
          kernels.status);
      assertStatuses(128);
      assertEquals(1280, pair.remote.getLong(0));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Payload.Kind.class,
      names = {"PINNED", "DEVICE"})
  void fetchedBytesAreSeenByTheKernel(Payload.Kind kind) throws InterruptedException {
    try (GpuPair pair = pair(kind)) {
      for (int i = 0; i < 64; i++) {
        pair.remote.setLong(8 * i, 7L * i);
      }
      kernels.run(
          "get",
          1,
          64,
          pair.qp,
          pair.local.region.address(),
          pair.local.region.lkey(),
          pair.remote.region.address(),
          pair.remote.region.remote().rkey(),
          kernels.status);
      assertStatuses(64);
    }
  }

  @Test
  void lanesOfAWarpNameDifferentQueuePairs() throws InterruptedException {
    int count = 5;
    Gpu gpu = kernels.gpu;
    try (Nic nic = Nic.open();
        DeviceBuffer handles = gpu.allocate(8L * count, MemoryKind.PINNED)) {
      Payload far = new Payload(nic, gpu, Payload.Kind.DEVICE, 4096, Access.values());
      for (int i = 0; i < count; i++) {
        QueuePair qp = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build());
        Pair.connect(qp, nic.queuePair(QueuePairOptions.defaults()));
        handles.segment().setAtIndex(java.lang.foreign.ValueLayout.JAVA_LONG, i, qp.deviceHandle());
      }
      kernels.run(
          "different_queues",
          2,
          64,
          handles,
          count,
          far.region.address(),
          far.region.remote().rkey(),
          kernels.status);
      assertStatuses(128);
      for (int i = 0; i < 128; i++) {
        assertEquals(i + 49, far.getLong(8 * i));
      }
      far.close();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Payload.Kind.class,
      names = {"PINNED", "DEVICE"})
  void dataIsThereBehindItsSignal(Payload.Kind kind) throws InterruptedException {
    try (Nic nic = Nic.open()) {
      Payload a = new Payload(nic, kernels.gpu, kind, 4096, Access.values());
      Payload b = new Payload(nic, kernels.gpu, kind, 4096, Access.values());
      QueuePair left = nic.queuePair(QueuePairOptions.builder().gpu(kernels.gpu).build());
      QueuePair right = nic.queuePair(QueuePairOptions.builder().gpu(kernels.gpu).build());
      Pair.connect(left, right);
      kernels.run(
          "ping_pong",
          2,
          1,
          left,
          right,
          a.region.address(),
          a.region.lkey(),
          b.region.address(),
          b.region.lkey(),
          100,
          kernels.status);
      assertStatuses(2);
      a.close();
      b.close();
    }
  }

  @Test
  void indexesWrapInAKernel() throws InterruptedException {
    try (GpuPair pair = pair(Payload.Kind.PINNED)) {
      puts(pair, "put_rounds", 4, 256, 200);
      long submitted = pair.qp.counters().submitted();
      assertTrue(submitted > 3 * 65_536, submitted + " requests");
      assertEquals(submitted, pair.qp.completed());
    }
  }

  @ParameterizedTest
  @EnumSource(Payload.Kind.class)
  void aKernelThatFillsTheGpuOnTheDefaultStreamIsServed(Payload.Kind kind)
      throws InterruptedException {
    int blocks = 2 * kernels.gpu.info().multiprocessors();
    try (GpuPair pair = pair(kind)) {
      kernels.run(
          "fill_and_wait",
          blocks,
          1024,
          pair.qp,
          pair.local.region.address(),
          pair.local.region.lkey(),
          pair.remote.region.address(),
          pair.remote.region.remote().rkey(),
          kernels.status);
      assertStatuses(blocks);
    }
  }

  @Test
  void aSubmitGoesOutBehindTheKernelThatProduces() throws InterruptedException {
    try (GpuPair pair = pair(Payload.Kind.DEVICE);
        GpuStream stream = GpuStream.open(kernels.gpu);
        Batch batch = Batch.of(pair.qp, pair.write(0, 0, 8))) {
      Kernel produce = kernels.gpu.compile(Kernels.source(), "produce");
      for (long value = 1; value <= 5; value++) {
        produce.launch(stream.handle(), 1, 1, pair.local.region.address(), value);
        long ticket = stream.submit(batch);
        pair.qp.await(ticket, GpuPair.TIMEOUT);
        assertEquals(value, pair.remote.getLong(0));
      }
    }
  }

  @Test
  void argumentsAreTyped() throws InterruptedException {
    kernels.run("typed", 1, 1, -5, 1L << 40, 0.5f, 0.25, kernels.status);
    double[] out =
        kernels.status.segment().asSlice(0, 32).toArray(java.lang.foreign.ValueLayout.JAVA_DOUBLE);
    assertArrayEquals(new double[] {-5, 1L << 40, 0.5, 0.25}, out);
  }
}
