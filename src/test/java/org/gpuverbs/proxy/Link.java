// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.proxy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CompletionQueue;
import org.gpuverbs.Completions;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RemoteMemory;
import org.gpuverbs.Rendezvous;
import org.gpuverbs.SubmitPolicy;
import org.gpuverbs.WorkRequest;

/** One process's end: a queue pair with receives, memory, and what the other process said. */
final class Link implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(60);
  static final int BYTES = 1 << 20;

  final MemoryRegion memory;
  final RemoteMemory remote;
  final QueuePair qp;
  final CompletionQueue received;
  final CompletionQueue sent;
  final Completions completions = new Completions(64);
  private final CpuLanes lanes = CpuLanes.start(2);
  private final Rendezvous.Peer peer;

  /** Both processes make theirs at the same time. */
  Link(Nic nic, Rendezvous.Peer peer, boolean fullQueue, int depth) {
    this.peer = peer;
    memory = nic.allocate(BYTES, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
    received = nic.completionQueue(64);
    sent = fullQueue ? nic.completionQueue(depth) : null;
    QueuePairOptions.Builder options =
        QueuePairOptions.builder()
            .depth(depth)
            .receiveDepth(64)
            .receiveQueue(received)
            .maxInline(QueuePairOptions.MAX_INLINE)
            .policy(SubmitPolicy.TURN);
    if (fullQueue) {
      options.sendQueue(sent);
    }
    qp = nic.queuePair(options.build());
    remote = RemoteMemory.fromBytes(peer.exchange(memory.remote().toBytes()));
    connect();
  }

  void connect() {
    qp.connect(QueuePairAddress.fromBytes(peer.exchange(qp.address().toBytes())));
    peer.exchange(new byte[] {1});
  }

  void reset() {
    qp.reset();
    connect();
  }

  long submit(WorkRequest... requests) throws InterruptedException {
    try (Batch batch = Batch.of(qp, requests)) {
      long ticket = lanes.submit(batch, PATIENCE);
      if (ticket < 0) {
        throw new AssertionError("submit gave " + ticket);
      }
      await(ticket);
      return ticket;
    }
  }

  /** Waits, whatever becomes of it. */
  long await(long ticket) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    long status;
    while ((status = qp.poll(ticket)) == org.gpuverbs.Status.PENDING) {
      if (sent != null) {
        sent.poll(completions);
      }
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("ticket " + ticket + " stays pending");
      }
      Thread.sleep(0, 100_000);
    }
    return status;
  }

  /** Runs requests that must succeed. */
  void done(WorkRequest... requests) throws InterruptedException {
    long ticket = submit(requests);
    long status = qp.poll(ticket);
    if (status != 0) {
      throw new AssertionError(
          "ticket " + ticket + " ended with " + org.gpuverbs.Status.describe(status));
    }
  }

  /** Runs a request that must fail with that syndrome. */
  void fails(int syndrome, WorkRequest request) throws InterruptedException {
    long status = qp.poll(submit(request));
    equal(syndrome, status, "syndrome");
    equal(syndrome, qp.errorSyndrome(), "error syndrome");
  }

  /** Waits for one receive completion, which {@link #completions} then holds. */
  void receive() throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (received.poll(completions) == 0) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("no receive completion");
      }
      Thread.sleep(0, 100_000);
    }
    equal(1, completions.size(), "receive completions");
  }

  /** The send and the send with immediate, which may come in one poll or in two. */
  void receiveBoth() throws InterruptedException {
    long[] ids = new long[2];
    int got = 0;
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (got < 2) {
      int n = received.poll(completions);
      for (int i = 0; i < n; i++) {
        equal(got == 0 ? 5000 : 16, completions.byteLength(i), "length");
        equal(got == 0 ? 0 : 1, completions.hasImmediate(i) ? 1 : 0, "immediates");
        equal(got == 0 ? 0 : -5, completions.immediate(i), "immediate");
        ids[got++] = completions.id(i);
      }
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError(got + " receive completions instead of 2");
      }
      Thread.sleep(0, 100_000);
    }
    equal(1, ids[0], "first id");
    equal(2, ids[1], "second id");
  }

  /** Hands the other process a word and takes its own. */
  String say(String word) {
    return new String(peer.exchange(word.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
  }

  void fill(int seed, int from, int length) {
    byte[] bytes = new byte[length];
    new java.util.Random(seed).nextBytes(bytes);
    memory.segment().asSlice(from, length).copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes));
  }

  void expect(int seed, int from, int length) {
    byte[] bytes = new byte[length];
    new java.util.Random(seed).nextBytes(bytes);
    byte[] there =
        memory.segment().asSlice(from, length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    if (!Arrays.equals(bytes, there)) {
      throw new AssertionError(
          length + " bytes differ from byte " + Arrays.mismatch(bytes, there) + " on");
    }
  }

  static void equal(long expected, long actual, String what) {
    if (expected != actual) {
      throw new AssertionError(what + " is " + actual + " instead of " + expected);
    }
  }

  @Override
  public void close() {
    for (AutoCloseable each : List.of(lanes, qp, received, memory)) {
      try {
        each.close();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
    if (sent != null) {
      sent.close();
    }
  }
}
