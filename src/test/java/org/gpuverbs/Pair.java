// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import org.gpuverbs.internal.softnic.SoftNicConfig;

/**
 * Two connected queue pairs of one software NIC, and memory at both ends that grants everything.
 */
final class Pair implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(20);
  static final int BYTES = 1 << 16;
  static final int RECEIVES = 256;
  static final Access[] ALL = Access.values();

  final Nic nic;
  final MemoryRegion local;
  final MemoryRegion remote;
  final CompletionQueue received;
  final QueuePair qp;

  /** The other end, with a receive queue. */
  final QueuePair peer;

  final CpuLanes caller = CpuLanes.caller();

  Pair() {
    this(QueuePairOptions.builder());
  }

  Pair(QueuePairOptions.Builder options) {
    this(SoftNicConfig.defaults(), options);
  }

  Pair(SoftNicConfig config, QueuePairOptions.Builder options) {
    nic = Nic.open(Nic.list().getFirst(), config);
    local = nic.allocate(BYTES, ALL);
    remote = nic.allocate(BYTES, ALL);
    received = nic.completionQueue(RECEIVES);
    qp = nic.queuePair(options.build());
    peer =
        nic.queuePair(
            QueuePairOptions.builder().receiveDepth(RECEIVES).receiveQueue(received).build());
    connect(qp, peer);
  }

  static void connect(QueuePair a, QueuePair b) {
    QueuePairAddress addressOfA = a.address();
    a.connect(b.address());
    b.connect(addressOfA);
  }

  WorkRequest.Write write(long offset, long length) {
    return new WorkRequest.Write(local.local(offset, length), remote.remote(offset, length));
  }

  /** A message that waits until the peer posts a receive, and all behind it too. */
  WorkRequest.Send send(long length) {
    return new WorkRequest.Send(local.local(0, length));
  }

  void postReceives(int count) {
    for (int i = 0; i < count; i++) {
      if (peer.postReceive(i, remote.local(0, 64)) < 0) {
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

  @Override
  public void close() {
    caller.close();
    nic.close();
  }
}
