// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.gpuverbs.internal.softnic.Fault;
import org.gpuverbs.internal.softnic.SoftNicConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Kernels whose queue fails, is closed, or never hears of anything; and kernels that can't be made.
 */
@GpuTest(compiler = true)
class GpuTroubleTest {
  private final Kernels kernels = new Kernels();
  private final Gpu gpu = kernels.gpu;

  @AfterEach
  void close() {
    kernels.close();
  }

  private GpuPair pair(SoftNicConfig config) {
    return new GpuPair(
        gpu,
        Payload.Kind.PINNED,
        QueuePairOptions.builder().closeTimeout(Duration.ofSeconds(2)),
        config);
  }

  private GpuPair pair() {
    return pair(SoftNicConfig.defaults());
  }

  @Test
  void anErrorInjectedUnderARunningKernelEndsEveryThread() throws InterruptedException {
    SoftNicConfig failing =
        SoftNicConfig.defaults()
            .withFaults(
                (qp, ordinal, opcode) ->
                    ordinal == 5_000 ? new Fault.Fail(Syndrome.REMOTE_ACCESS) : new Fault.None());
    try (GpuPair pair = pair(failing)) {
      int threads = 4 * 96;
      long start = System.nanoTime();
      kernels.run(
          "put_until_error",
          4,
          96,
          pair.qp,
          pair.local.region.address(),
          pair.local.region.lkey(),
          pair.remote.region.address(),
          pair.remote.region.remote().rkey(),
          kernels.status);
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
      assertTrue(seconds < 15, seconds + " s");
      for (int i = 0; i < threads; i++) {
        long status = kernels.status(i);
        boolean told =
            status == Status.QP_ERROR
                || status == -100 - Syndrome.REMOTE_ACCESS
                || status == -100 - Syndrome.FLUSHED;
        assertTrue(told, "thread " + i + " has status " + status);
      }
      assertEquals(QueuePairState.ERROR, pair.qp.state());
      assertEquals(Syndrome.REMOTE_ACCESS, pair.qp.errorSyndrome());
    }
  }

  @Test
  void closeEndsAKernelThatWaits() throws InterruptedException {
    try (GpuPair pair = pair();
        DeviceBuffer word = gpu.allocate(8, MemoryKind.DEVICE)) {
      word.copyFrom(0, MemorySegment.ofArray(new byte[8]));
      kernels.launch("wait_signal", 1, 1, pair.qp, word, kernels.status);
      Await.until(() -> kernels.status(0) == 77);
      long start = System.nanoTime();
      pair.qp.close();
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      assertTrue(millis < 2_000, millis + " ms");
      kernels.zero.synchronize(Kernels.TIMEOUT);
      assertEquals(Status.CLOSED, kernels.status(0));
    }
  }

  @Test
  void closeUnderAKernelThatDoesNotListenGivesUpAndTheGpuFreesLater() throws InterruptedException {
    GpuPair pair = pair();
    DeviceBuffer told = gpu.allocate(8, MemoryKind.PINNED);
    told.segment().fill((byte) 0);
    kernels.launch("deaf", 1, 1, pair.qp, told, kernels.status);
    Await.until(() -> kernels.status(0) == 77);
    long start = System.nanoTime();
    pair.qp.close();
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    assertTrue(millis >= 1_900 && millis < 6_000, millis + " ms");
    told.segment().fill((byte) 1);
    kernels.zero.synchronize(Kernels.TIMEOUT);
    // GV_STATE_CLOSED: the memory was still the queue's.
    assertEquals(3, kernels.status(0));
    pair.close();
  }

  @Test
  void closingTheGpuUnderAKernelEndsWithinItsDeadline() {
    Gpu other = Gpu.open(0);
    try (Kernels own = new Kernels(other)) {
      DeviceBuffer told = gpu.allocate(8, MemoryKind.PINNED);
      told.segment().fill((byte) 0);
      GpuPair pair =
          new GpuPair(
              other,
              Payload.Kind.PINNED,
              QueuePairOptions.builder().closeTimeout(Duration.ofMillis(100)));
      kernels.status.segment().fill((byte) 0);
      own.launch("deaf", 1, 1, pair.qp, told, kernels.status);
      Await.until(() -> kernels.status(0) == 77);
      long start = System.nanoTime();
      other.close(Duration.ofSeconds(1));
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      told.segment().fill((byte) 1);
      assertTrue(millis < 15_000, millis + " ms");
    }
  }

  @Test
  void anErrorInTheSourceNamesTheLine() {
    String source = "extern \"C\" __global__ void k() {\n  int x = 1;\n  nonsense(x);\n}\n";
    RdmaException e = assertThrows(RdmaException.class, () -> gpu.compile(source, "k"));
    assertTrue(e.hint().contains("k.cu(3): error"), e.hint());
    assertTrue(e.hint().contains("nonsense"), e.hint());
  }

  @Test
  void aMissingKernelIsNamed() {
    String source = "__global__ void mangled() {}";
    RdmaException e = assertThrows(RdmaException.class, () -> gpu.compile(source, "mangled"));
    assertTrue(e.getMessage().contains("extern \"C\""), e.getMessage());
  }

  @Test
  void argumentsOfTheWrongKindAreNamed() {
    Kernel typed = gpu.compile(Kernels.source(), "typed");
    DeviceBuffer out = kernels.status;
    assertWrong("takes 5 parameters, not 4", () -> typed.launch(0, 1, 1, 1, 2L, 3f, 4.0));
    assertWrong(
        "argument 1: the kernel's parameter has 8 bytes",
        () -> typed.launch(0, 1, 1, 1, 2, 3f, 4.0, out));
    assertWrong(
        "argument 4: a MemorySegment", () -> typed.launch(0, 1, 1, 1, 2L, 3f, 4.0, out.segment()));
    assertWrong("argument 0: a String", () -> typed.launch(0, 1, 1, "1", 2L, 3f, 4.0, out));
    assertWrong("argument 0: null", () -> typed.launch(0, 1, 1, null, 2L, 3f, 4.0, out));
  }

  @Test
  void aQueuePairOfTheCpuIsNoArgument() {
    Kernel kernel = gpu.compile(Kernels.source(), "wait_signal");
    try (Pair pair = new Pair()) {
      assertWrong(
          "options.gpu(gpu)",
          () -> kernel.launch(0, 1, 1, pair.qp, kernels.status, kernels.status));
    }
  }

  @Test
  void tooManyThreadsAreAnErrorOfTheLaunch() {
    Kernel typed = gpu.compile(Kernels.source(), "typed");
    assertThrows(
        RuntimeException.class, () -> typed.launch(0, 1, 4096, 1, 2L, 3f, 4.0, kernels.status));
  }

  @Test
  void everySourceOfTheBuiltInKernelsLoads() {
    for (var source : org.gpuverbs.internal.cuda.DeviceCode.Source.values()) {
      Long module =
          org.gpuverbs.internal.cuda.DeviceCode.load(
              gpu.handle(), gpu.info().architecture(), source);
      assertTrue(module != null && module != 0, source.toString());
    }
  }

  private static void assertWrong(String reason, org.junit.jupiter.api.function.Executable call) {
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call);
    assertTrue(e.getMessage().contains(reason), e.getMessage());
  }
}
