// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;

/**
 * Two connected queue pairs of one software NIC, and memory at both ends that grants everything.
 */
final class Pair implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(20);
  static final int BYTES = 1 << 16;
  static final Access[] ALL = Access.values();

  final Nic nic = Nic.open();
  final MemoryRegion local = nic.allocate(BYTES, ALL);
  final MemoryRegion remote = nic.allocate(BYTES, ALL);
  final QueuePair qp;
  final QueuePair peer;
  final CpuLanes caller = CpuLanes.caller();

  Pair() {
    this(QueuePairOptions.defaults());
  }

  Pair(QueuePairOptions options) {
    qp = nic.queuePair(options);
    peer = nic.queuePair(QueuePairOptions.defaults());
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
