// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.util.List;
import org.gpuverbs.Batch;
import org.gpuverbs.Initiator;
import org.gpuverbs.QueuePair;
import org.gpuverbs.Status;

/** Batches on all queue pairs in turn, as many as their depth takes. One thread. */
final class BandwidthLoad implements Load {
  private static final long SAMPLE_NANOS = 1_000_000;
  private static final double MEBI = 1 << 20;

  private final List<QueuePair> queuePairs;
  private final PerfOptions options;
  private final Initiator initiator;
  private final int size;
  private final Ticker ticker;
  private final Batch[] whole;
  private final Batch[] rest;
  private final long[] sent;
  private final long[] goal;
  private final long[] tickets;
  private double peak;

  BandwidthLoad(Side side, PerfOptions options, Initiator initiator, int size, Ticker ticker) {
    this.queuePairs = side.queuePairs;
    this.options = options;
    this.initiator = initiator;
    this.size = size;
    this.ticker = ticker;
    int count = queuePairs.size();
    whole = new Batch[count];
    rest = new Batch[count];
    sent = new long[count];
    goal = new long[count];
    tickets = new long[count];
    int remainder = (int) (options.iterations() % options.batch());
    for (int i = 0; i < count; i++) {
      whole[i] = side.batch(i, size, options.batch());
      rest[i] = options.seconds() > 0 || remainder == 0 ? whole[i] : side.batch(i, size, remainder);
    }
  }

  @Override
  public long sent(int queuePair) {
    return sent[queuePair];
  }

  @Override
  public void warmUp(double seconds) {
    drive(Long.MAX_VALUE, (long) (seconds * 1e9));
  }

  @Override
  public Row run(String verified) {
    peak = 0;
    long before = total();
    long rang = doorbells();
    long nanos =
        options.seconds() > 0
            ? drive(Long.MAX_VALUE, (long) (options.seconds() * 1e9))
            : drive(options.iterations(), Long.MAX_VALUE);
    long messages = total() - before;
    double rate = messages * 1e9 / nanos;
    return new Row.Bandwidth(
        size,
        messages,
        Math.max(peak, rate) * size / MEBI,
        rate * size / MEBI,
        rate / 1e6,
        (double) (doorbells() - rang) / messages,
        verified);
  }

  /** Up to so many messages a queue pair, or so long. Returns the time till all are complete. */
  private long drive(long perQueuePair, long nanos) {
    int count = queuePairs.size();
    for (int i = 0; i < count; i++) {
      goal[i] = perQueuePair == Long.MAX_VALUE ? Long.MAX_VALUE : sent[i] + perQueuePair;
    }
    long first = completed();
    long start = System.nanoTime();
    long sampled = start;
    long atSample = 0;
    long moved = start;
    boolean open = true;
    while (open) {
      open = false;
      boolean progress = false;
      for (int i = 0; i < count; i++) {
        long left = goal[i] - sent[i];
        if (left == 0) {
          continue;
        }
        open = true;
        Batch batch = left >= options.batch() ? whole[i] : rest[i];
        long ticket = initiator.submit(batch);
        if (ticket >= 0) {
          tickets[i] = ticket;
          sent[i] += batch.size();
          progress = true;
        } else if (ticket != Status.FULL && ticket != Status.BUSY) {
          throw failed(queuePairs.get(i), ticket);
        }
      }
      long now = System.nanoTime();
      if (progress) {
        moved = now;
      } else if (now - moved > PATIENCE_NANOS) {
        throw failed(queuePairs.getFirst(), Status.TIMEOUT);
      } else {
        Thread.yield();
      }
      if (now - sampled >= SAMPLE_NANOS) {
        long done = messages(completed() - first);
        peak = Math.max(peak, (done - atSample) * 1e9 / (now - sampled));
        atSample = done;
        sampled = now;
        ticker.at(part(done, perQueuePair, now - start, nanos));
      }
      open &= now - start < nanos;
    }
    for (int i = 0; i < count; i++) {
      if (sent[i] > 0) {
        await(queuePairs.get(i), tickets[i]);
      }
    }
    return System.nanoTime() - start;
  }

  private double part(long done, long perQueuePair, long elapsed, long nanos) {
    return perQueuePair == Long.MAX_VALUE
        ? (double) elapsed / nanos
        : (double) done / perQueuePair / queuePairs.size();
  }

  private static void await(QueuePair qp, long ticket) {
    Idle idle = new Idle(PATIENCE_NANOS);
    while (true) {
      long status = qp.poll(ticket);
      if (status == Status.DONE) {
        return;
      }
      if (status != Status.PENDING) {
        throw failed(qp, status);
      }
      if (!idle.again()) {
        throw failed(qp, Status.TIMEOUT);
      }
    }
  }

  private long total() {
    long sum = 0;
    for (long each : sent) {
      sum += each;
    }
    return sum;
  }

  private long completed() {
    long sum = 0;
    for (int i = 0; i < queuePairs.size(); i++) {
      sum += queuePairs.get(i).completed();
    }
    return sum;
  }

  private long messages(long basicBlocks) {
    return basicBlocks * whole[0].size() / whole[0].wqebbs();
  }

  private long doorbells() {
    return queuePairs.stream().mapToLong(qp -> qp.counters().doorbells()).sum();
  }

  static PerfException failed(QueuePair qp, long status) {
    return new PerfException(qp + ": " + Status.describe(status));
  }
}
