// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.Gpu;
import org.gpuverbs.GpuStream;
import org.gpuverbs.Initiator;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Status;
import org.gpuverbs.SubmitPolicy;

/**
 * Connected queue pairs and the lane threads that serve them, for one row and one window. One
 * thread.
 */
final class Rig implements AutoCloseable {
  private static final int DEPTH = 1024;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final List<QueuePair> near = new ArrayList<>();
  private final List<Initiator> lanes = new ArrayList<>();
  private long requests;
  private long nanos;

  /** The GPU's built-in kernels submit, on a stream for each queue pair. */
  Rig(Nic nic, FarEnd far, Gpu gpu, SubmitPolicy policy, int queuePairs) {
    try {
      connect(nic, far, QueuePairOptions.builder().gpu(gpu), policy, queuePairs);
      for (int i = 0; i < queuePairs; i++) {
        lanes.add(open(GpuStream.open(gpu)));
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  Rig(Nic nic, FarEnd far, SubmitPolicy policy, int laneThreads, int queuePairs) {
    try {
      connect(nic, far, QueuePairOptions.builder(), policy, queuePairs);
      // An exclusive queue has one submitter by contract: each lane thread then has queues of its
      // own.
      boolean apart = policy.exclusive();
      for (int i = 0; i < (apart ? laneThreads : 1); i++) {
        lanes.add(open(CpuLanes.start(apart ? 1 : laneThreads)));
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void connect(
      Nic nic, FarEnd far, QueuePairOptions.Builder options, SubmitPolicy policy, int queuePairs) {
    for (int i = 0; i < queuePairs; i++) {
      near.add(open(nic.queuePair(options.policy(policy).depth(DEPTH).build())));
    }
    opened.addFirst(far.connect(near));
  }

  private <T extends AutoCloseable> T open(T resource) {
    opened.add(resource);
    return resource;
  }

  /** Requests completed. */
  long requests() {
    return requests;
  }

  /** Doorbells that the near queue pairs' submitters rang. */
  long doorbells() {
    return near.stream().mapToLong(qp -> qp.counters().doorbells()).sum();
  }

  /** Time between first submit and last completion, all work taken together. */
  long nanos() {
    return nanos;
  }

  /** Submits all of it, and waits until all of it is complete. */
  void run(Plan.Work work) throws InterruptedException {
    List<List<Batch>> batches = new ArrayList<>();
    try {
      for (int i = 0; i < near.size(); i++) {
        List<Batch> mine = new ArrayList<>();
        batches.add(mine);
        for (var requestsOfBatch : work.perQueuePair().get(i)) {
          mine.add(Batch.of(near.get(i), Batch.Signal.LAST, requestsOfBatch));
        }
      }
      long start = System.nanoTime();
      submitAll(batches);
      nanos += System.nanoTime() - start;
      requests += work.requests();
    } finally {
      batches.forEach(each -> each.forEach(Batch::close));
    }
  }

  private void submitAll(List<List<Batch>> batches) throws InterruptedException {
    int count = near.size();
    int[] next = new int[count];
    long[] last = new long[count];
    int left = batches.stream().mapToInt(List::size).sum();
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (left > 0) {
      boolean progress = false;
      for (int i = 0; i < count; i++) {
        if (next[i] == batches.get(i).size()) {
          continue;
        }
        long ticket = lanes.get(i % lanes.size()).submit(batches.get(i).get(next[i]));
        if (ticket >= 0) {
          last[i] = ticket;
          next[i]++;
          left--;
          progress = true;
        } else if (ticket != Status.FULL && ticket != Status.BUSY) {
          throw failed(near.get(i), ticket);
        }
      }
      if (progress) {
        deadline = System.nanoTime() + PATIENCE.toNanos();
      } else if (System.nanoTime() > deadline) {
        throw failed(near.getFirst(), Status.TIMEOUT);
      } else {
        Thread.yield();
      }
    }
    for (int i = 0; i < count; i++) {
      if (!batches.get(i).isEmpty()) {
        near.get(i).await(last[i], PATIENCE);
      }
    }
  }

  private static RdmaException failed(QueuePair qp, long status) {
    return new RdmaException(
        "%s: submit ended with %s".formatted(qp, Status.describe(status)), status, 0, 0, "", null);
  }

  @Override
  public void close() {
    for (AutoCloseable each : opened.reversed()) {
      try {
        each.close();
      } catch (Exception e) {
        // None of these closes declares one.
        throw new IllegalStateException(e);
      }
    }
  }
}
