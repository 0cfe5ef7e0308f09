// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.OneThread;
import org.gpuverbs.internal.queue.UseGate;
import org.gpuverbs.internal.shim.Calls;
import org.jspecify.annotations.Nullable;

/**
 * An initiator on the CPU: the calling thread itself, or native lane threads that share each batch.
 *
 * <p>Lane threads take a batch in groups of up to 32 requests, each with one reservation, as a warp
 * does. They wait without burning a core for long. The thread rule is {@link Initiator}'s.
 */
public final class CpuLanes implements Initiator {
  /** The most lane threads of one initiator. */
  public static final int MAX_LANES = 256;

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final String name;
  private final int count;

  /** gv_lanes; 0 for the caller's thread. */
  private final long lanes;

  private final OneThread thread;
  private final UseGate gate = new UseGate();
  private final List<BatchMemory> adopted = new ArrayList<>();
  private volatile boolean stopped;
  private volatile @Nullable QueuePair last;

  private CpuLanes(String kind, int count, long lanes) {
    this.name = kind + " initiator " + NAMES.incrementAndGet();
    this.count = count;
    this.lanes = lanes;
    this.thread = new OneThread(name);
  }

  /**
   * An initiator that runs the submit path on the thread that calls submit.
   *
   * @return the initiator
   * @throws RdmaException if the native library is not available
   */
  public static CpuLanes caller() {
    GpuVerbs.ensureAvailable();
    return new CpuLanes("caller", 1, 0);
  }

  /**
   * Starts lane threads.
   *
   * @param lanes 1..{@link #MAX_LANES}
   * @return the initiator, to be closed
   * @throws IllegalArgumentException if {@code lanes} is out of range
   * @throws RdmaException if the threads can't be started or the native library is not available
   */
  public static CpuLanes start(int lanes) {
    if (lanes < 1 || lanes > MAX_LANES) {
      throw new IllegalArgumentException(lanes + " lane threads: take 1.." + MAX_LANES);
    }
    GpuVerbs.ensureAvailable();
    return new CpuLanes(lanes + "-lane", lanes, Calls.lanesStart(lanes));
  }

  @Override
  public int lanes() {
    return count;
  }

  @Override
  public long submit(Batch batch) {
    QueuePair qp = batch.queuePair();
    enter(qp);
    try {
      return qp.admits(this) ? submitInside(qp, batch) : qp.absent();
    } finally {
      thread.exit();
    }
  }

  private long submitInside(QueuePair qp, Batch batch) {
    batch.enter();
    try {
      long ticket;
      if (lanes == 0) {
        ticket = Calls.submit(qp.handle(), batch.address(), batch.size(), batch.wqebbs());
      } else {
        batch.requireHolder(this);
        ticket =
            Calls.lanesSubmit(lanes, qp.handle(), batch.address(), batch.size(), batch.wqebbs());
        if (ticket >= 0) {
          batch.heldBy(this, ticket);
        }
      }
      if (last != qp) {
        last = qp;
      }
      return ticket;
    } finally {
      batch.exit();
    }
  }

  /**
   * Submits requests that stay as they are until the ticket is done, or until no lane holds any of
   * that queue pair. The thread rule is submit's.
   */
  long submit(QueuePair qp, BatchMemory requests, int count, int wqebbs) {
    enter(qp);
    try {
      return qp.admits(this) ? submitInside(qp, requests, count, wqebbs) : qp.absent();
    } finally {
      thread.exit();
    }
  }

  private long submitInside(QueuePair qp, BatchMemory requests, int count, int wqebbs) {
    return lanes == 0
        ? Calls.submit(qp.handle(), requests.address(), count, wqebbs)
        : Calls.lanesSubmit(lanes, qp.handle(), requests.address(), count, wqebbs);
  }

  /**
   * Sets the mark that this initiator's close and the queue pair's wait for, then looks whether
   * they have begun. So a submit costs one atomic operation here, not one for each gate.
   */
  private void enter(QueuePair qp) {
    thread.enter(qp);
    if (gate.closed()) {
      thread.exit();
      throw new IllegalStateException(name + " is closed");
    }
  }

  /**
   * Waits for a submit to that queue pair, if one is under way; false if it was not over in time.
   */
  boolean awaitSubmit(QueuePair qp, long deadline) {
    return thread.awaitExit(qp, deadline);
  }

  /** Whether requests are read within submit, not afterwards. */
  boolean readsAtOnce() {
    return lanes == 0;
  }

  @Override
  public long poll(long ticket) {
    return lastServed().poll(ticket);
  }

  @Override
  public void await(long ticket, Duration timeout) throws InterruptedException {
    lastServed().await(ticket, timeout);
  }

  private QueuePair lastServed() {
    QueuePair qp = last;
    if (qp == null) {
      throw new IllegalStateException(name + " has submitted nothing yet");
    }
    return qp;
  }

  @Override
  public boolean isClosed() {
    return gate.closed();
  }

  /** Whether close is over: no thread of this initiator touches a queue any more. */
  boolean stopped() {
    return stopped;
  }

  /** Whether no lane holds a batch of that queue. */
  boolean idle(long handle) {
    if (lanes == 0) {
      return true;
    }
    if (!gate.enter()) {
      return stopped;
    }
    try {
      return Calls.lanesIdle(lanes, handle);
    } finally {
      gate.exit();
    }
  }

  /** Frees memory that a lane may still read once the lanes are gone. */
  void adopt(BatchMemory memory) {
    synchronized (adopted) {
      if (!stopped) {
        adopted.add(memory);
        return;
      }
    }
    memory.free();
  }

  @Override
  public void close() {
    if (!gate.close()) {
      return;
    }
    long deadline = Deadline.after(CLOSE_TIMEOUT);
    if (!gate.awaitUnused(deadline) || !thread.awaitExit(null, deadline)) {
      Quarantine.report(name, null);
      return;
    }
    if (lanes != 0) {
      Calls.lanesStop(lanes);
    }
    synchronized (adopted) {
      stopped = true;
      adopted.forEach(BatchMemory::free);
      adopted.clear();
    }
  }

  /** Such as {@code 8-lane initiator 3}. */
  @Override
  public String toString() {
    return name;
  }
}
