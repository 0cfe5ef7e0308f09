// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CompletionQueue;
import org.gpuverbs.Completions;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.gpuverbs.PortOptions;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.WorkRequest;
import org.gpuverbs.internal.softnic.SoftNicConfig;
import org.jspecify.annotations.Nullable;

/**
 * Two connected queue pairs of path DIRECT on the stand-in's ConnectX, and memory at both ends that
 * grants everything. Its close asserts that nothing was refused and nothing is left.
 */
final class Ends implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(30);
  static final int BYTES = 1 << 16;
  static final int RECEIVES = 256;

  final StandIn machine;
  final Nic nic;
  final MemoryRegion local;
  final MemoryRegion remote;
  final CompletionQueue received;
  final QueuePair qp;

  /** The other end, with a receive queue. */
  final QueuePair peer;

  final CpuLanes caller = CpuLanes.caller();

  /** What refusals that the test provokes have in common; null: there must be none. */
  private @Nullable String tolerated;

  Ends() {
    this(StandIn.start(), QueuePairOptions.builder());
  }

  Ends(QueuePairOptions.Builder options) {
    this(StandIn.start(), options);
  }

  Ends(SoftNicConfig config, QueuePairOptions.Builder options) {
    this(StandIn.start(config), options);
  }

  Ends(StandIn machine, QueuePairOptions.Builder options) {
    this(machine, options, PortOptions.defaults());
  }

  Ends(StandIn machine, QueuePairOptions.Builder options, PortOptions port) {
    this.machine = machine;
    nic = Nic.open(connectX(), port);
    try {
      local = nic.allocate(BYTES, Access.values());
      remote = nic.allocate(BYTES, Access.values());
      received = nic.completionQueue(RECEIVES);
      qp = nic.queuePair(options.build());
      peer =
          nic.queuePair(
              QueuePairOptions.builder().receiveDepth(RECEIVES).receiveQueue(received).build());
      assertEquals(Path.DIRECT, qp.path());
      connect(qp, peer);
    } catch (RuntimeException | Error e) {
      caller.close();
      nic.close();
      StandIn.drop();
      throw new AssertionError(StandIn.said().toString(), e);
    }
  }

  /** The machine's first device. */
  static NicInfo connectX() {
    return device("mlx5_0");
  }

  static NicInfo device(String name) {
    return Nic.list().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
  }

  static void connect(QueuePair a, QueuePair b) {
    QueuePairAddress addressOfA = a.address();
    a.connect(b.address());
    b.connect(addressOfA);
  }

  /** The stand-in may refuse what has this in its text. */
  Ends tolerating(String text) {
    tolerated = text;
    return this;
  }

  WorkRequest.Write write(long offset, long length) {
    return new WorkRequest.Write(local.local(offset, length), remote.remote(offset, length));
  }

  void postReceives(int count) {
    for (int i = 0; i < count; i++) {
      if (peer.postReceive(i, remote.local(64L * i, 64)) < 0) {
        throw new AssertionError("no room for receive " + i);
      }
    }
  }

  /** Submits one batch with the caller's thread and waits for it. */
  void run(WorkRequest... requests) throws InterruptedException {
    try (Batch batch = Batch.of(qp, requests)) {
      qp.await(caller.submit(batch, TIMEOUT), TIMEOUT);
    }
  }

  /** Waits for completions. */
  static void await(CompletionQueue queue, Completions into) {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (queue.poll(into) == 0) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("no completion in " + queue);
      }
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    caller.close();
    nic.close();
    String expected = tolerated;
    if (expected == null) {
      StandIn.assertNothingRefused();
    } else {
      List<String> others =
          StandIn.said().stream().filter(each -> !each.contains(expected)).toList();
      assertEquals(List.of(), others);
    }
    assertEquals(List.of(), machine.problems());
    machine.close();
  }
}
