// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.gpuverbs.internal.softnic.SoftNicConfig;

/** Queue pairs of a GPU, and a kernel whose warps put through them as fast as they can. */
final class Storm implements AutoCloseable {
  private static final int SLOTS = 16;
  private static final Duration LIMIT = Duration.ofSeconds(100);

  private final Nic nic;
  private final GpuStream stream;
  private final Kernel kernel;
  private final DeviceBuffer handles;
  private final DeviceBuffer status;
  private final Payload local;
  private final Payload remote;
  private final int threads;
  private final int block;
  final List<QueuePair> queuePairs = new ArrayList<>();
  private final List<QueuePair> peers = new ArrayList<>();
  private long expected;

  /** So many threads on each of the queue pairs, one for each policy given. */
  Storm(
      Gpu gpu,
      Payload.Kind kind,
      int nicThreads,
      int depth,
      int threadsEach,
      List<SubmitPolicy> policies) {
    nic = Nic.open(Nic.list().getFirst(), SoftNicConfig.defaults().withThreads(nicThreads));
    stream = GpuStream.open(gpu);
    kernel = gpu.compile(source(), "storm");
    threads = threadsEach * policies.size();
    block = Math.min(threadsEach, 256);
    handles = gpu.allocate(8L * policies.size(), MemoryKind.PINNED);
    status = gpu.allocate(8L * threads, MemoryKind.PINNED);
    local = new Payload(nic, gpu, kind, 64L * SLOTS * threads, Access.values());
    remote = new Payload(nic, gpu, kind, 64L * SLOTS * threads, Access.values());
    for (SubmitPolicy policy : policies) {
      QueuePair qp =
          nic.queuePair(QueuePairOptions.builder().gpu(gpu).depth(depth).policy(policy).build());
      QueuePair peer = nic.queuePair(QueuePairOptions.defaults());
      Pair.connect(qp, peer);
      handles.segment().setAtIndex(JAVA_LONG, queuePairs.size(), qp.deviceHandle());
      queuePairs.add(qp);
      peers.add(peer);
    }
  }

  private static String source() {
    try (InputStream in = Storm.class.getResourceAsStream("/org/gpuverbs/rates.cu")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** New bytes here, zeroes there. */
  byte[] fill(long seed) {
    byte[] bytes = new byte[64 * SLOTS * threads];
    new Random(seed).nextBytes(bytes);
    local.set(0, bytes);
    remote.set(0, new byte[bytes.length]);
    return bytes;
  }

  /** Runs the kernel; seconds from its launch until every put is done. */
  double run(int rounds) throws InterruptedException {
    status.segment().fill((byte) -1);
    long start = System.nanoTime();
    kernel.launch(
        stream.handle(),
        threads / block,
        block,
        handles,
        threads / block / queuePairs.size(),
        local.region.address(),
        local.region.lkey(),
        remote.region.address(),
        remote.region.remote().rkey(),
        rounds,
        status);
    stream.synchronize(LIMIT);
    double seconds = (System.nanoTime() - start) / 1e9;
    long[] results = status.segment().toArray(JAVA_LONG);
    for (int i = 0; i < threads; i++) {
      check(results[i] == Status.DONE, "thread " + i + ": " + results[i]);
    }
    // Each thread's quiet() is one request more.
    expected += (long) threads / queuePairs.size() * (rounds + 1);
    return seconds;
  }

  /** Nothing lost, nothing garbled: what was submitted and finished, and the bytes. */
  void verify(byte[] bytes, int rounds) {
    for (QueuePair qp : queuePairs) {
      check(qp.state() == QueuePairState.READY, qp + " is " + qp.state());
      check(qp.completed() == expected, qp + ": " + qp.completed() + " of " + expected);
      check(qp.counters().submitted() == expected, qp + ": " + qp.counters());
    }
    check(rounds >= SLOTS, "fewer rounds than slots");
    check(Arrays.equals(bytes, remote.bytes()), "bytes differ");
  }

  long wqes() {
    return expected * queuePairs.size();
  }

  double doorbellsPerWqe() {
    return queuePairs.stream().mapToLong(qp -> qp.counters().doorbells()).sum() / (double) wqes();
  }

  int threads() {
    return threads;
  }

  private static void check(boolean right, String what) {
    if (!right) {
      throw new AssertionError(what);
    }
  }

  @Override
  public void close() {
    queuePairs.forEach(QueuePair::close);
    peers.forEach(QueuePair::close);
    local.close();
    remote.close();
    handles.close();
    status.close();
    stream.close();
    nic.close();
  }
}
