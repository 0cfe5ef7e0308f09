// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.OneThread;
import org.gpuverbs.internal.queue.UseGate;
import org.gpuverbs.internal.shim.CudaCalls;
import org.jspecify.annotations.Nullable;

/**
 * The GPU as initiator: each submit enqueues a built-in kernel on a CUDA stream, behind the work
 * that is on it. What that work produced goes out after it, with no host involved.
 *
 * <p>It serves queue pairs of its GPU, each of which it is the one submitter of. Room is reserved
 * at the call, or {@link Status#FULL} returned, so that a full queue never blocks the stream.
 * {@link #lanes} is 1: a queue pair's batches go out one behind the other, although a warp writes
 * 32 requests at once. The thread rule is {@link Initiator}'s.
 */
public final class GpuStream implements Initiator {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final String name;
  private final Gpu gpu;
  private final long stream;
  private final boolean own;
  private final OneThread thread;
  private final UseGate gate = new UseGate();

  /** Behind everything that was submitted when it was recorded last. */
  private final long event;

  private volatile long submitted;

  // Under this monitor.
  private long recorded;
  private boolean reached = true;
  private boolean released;

  private volatile @Nullable QueuePair last;

  private GpuStream(Gpu gpu, long stream, boolean own) {
    this.name = "GPU stream initiator " + NAMES.incrementAndGet();
    this.gpu = gpu;
    this.stream = stream;
    this.own = own;
    this.thread = new OneThread(name);
    this.event = CudaCalls.eventCreate(gpu.handle());
  }

  /**
   * Submits on a stream of somebody else's, which must stay until close.
   *
   * @param gpu the GPU
   * @param stream a CUstream of the GPU's context; 0 is the default stream
   * @return the initiator, to be closed
   * @throws IllegalArgumentException if the stream belongs to another context
   * @throws RdmaException if the stream is capturing a graph
   * @throws IllegalStateException if the GPU is closed
   */
  public static GpuStream on(Gpu gpu, long stream) {
    return make(gpu, stream, false);
  }

  /**
   * Submits on a stream of its own, which waits for no default stream.
   *
   * @param gpu the GPU
   * @return the initiator, to be closed
   * @throws IllegalStateException if the GPU is closed
   */
  public static GpuStream open(Gpu gpu) {
    return make(gpu, 0, true);
  }

  private static GpuStream make(Gpu gpu, long stream, boolean own) {
    gpu.enter();
    try {
      long used = own ? CudaCalls.streamCreate(gpu.handle()) : stream;
      CudaCalls.streamCheck(gpu.handle(), used);
      GpuStream made = new GpuStream(gpu, used, own);
      gpu.add(made);
      return made;
    } finally {
      gpu.exit();
    }
  }

  Gpu gpu() {
    return gpu;
  }

  /**
   * The stream, for {@link Kernel#launch} and other libraries.
   *
   * @return a CUstream
   */
  public long handle() {
    return stream;
  }

  @Override
  public int lanes() {
    return 1;
  }

  @Override
  public long submit(Batch batch) {
    QueuePair qp = batch.queuePair();
    thread.enter();
    try {
      if (!gate.enter()) {
        throw new IllegalStateException(name + " is closed");
      }
      try {
        return qp.gate().enter() ? submitInside(qp, batch) : qp.absent();
      } finally {
        gate.exit();
      }
    } finally {
      thread.exit();
    }
  }

  /** With the gates of this initiator and of the queue pair held. */
  private long submitInside(QueuePair qp, Batch batch) {
    try {
      GpuQueue queue = queue(qp);
      batch.enter();
      try {
        batch.requireHolder(this);
        long ticket = queue.submit(stream, batch.memory(), batch.size(), batch.wqebbs());
        if (ticket >= 0) {
          submitted++;
          batch.heldBy(this, ticket);
        }
        if (last != qp) {
          last = qp;
        }
        return ticket;
      } finally {
        batch.exit();
      }
    } finally {
      qp.gate().exit();
    }
  }

  /**
   * Submits requests that stay as they are until the ticket is done, or the stream is idle. The
   * thread rule is submit's.
   */
  long submit(QueuePair qp, BatchMemory requests, int count, int wqebbs) {
    thread.enter();
    try {
      if (!gate.enter()) {
        throw new IllegalStateException(name + " is closed");
      }
      try {
        if (!qp.gate().enter()) {
          return qp.absent();
        }
        try {
          GpuQueue queue = queue(qp);
          long ticket = queue.submit(stream, requests, count, wqebbs);
          submitted += ticket >= 0 ? 1 : 0;
          return ticket;
        } finally {
          qp.gate().exit();
        }
      } finally {
        gate.exit();
      }
    } finally {
      thread.exit();
    }
  }

  /** The queue pair's queue, of which this is the one submitter. */
  private GpuQueue queue(QueuePair qp) {
    GpuQueue queue = qp.gpuQueue();
    if (queue == null) {
      throw new IllegalStateException(
          qp + " is no queue pair of a GPU: create it with options.gpu(gpu), or use CpuLanes");
    }
    queue.take(this);
    qp.serve(this);
    return queue;
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

  /**
   * Waits until the stream has done everything that is on it now, other libraries' work too. A loop
   * in Java that a virtual thread may run.
   *
   * @param timeout how long to wait
   * @throws RdmaException with {@link Status#TIMEOUT} if it is not done in time, or with the cause
   *     if the GPU's context has failed
   * @throws InterruptedException if interrupted
   * @throws IllegalStateException if closed
   */
  public void synchronize(Duration timeout) throws InterruptedException {
    long deadline = Deadline.after(timeout);
    IdleStrategy idle = IdleStrategy.backoff();
    if (!gate.enter()) {
      throw new IllegalStateException(name + " is closed");
    }
    try {
      synchronized (this) {
        recorded = -1;
      }
      while (!idle()) {
        if (Deadline.passed(deadline)) {
          throw RdmaException.of("waiting for " + name, Status.TIMEOUT);
        }
        if (Thread.interrupted()) {
          throw new InterruptedException("interrupted while waiting for " + name);
        }
        idle.idle(0);
      }
      RdmaException sickness = CudaCalls.sickness(gpu.handle());
      if (sickness != null) {
        throw sickness;
      }
    } finally {
      gate.exit();
    }
  }

  @Override
  public boolean isClosed() {
    return gate.closed();
  }

  /** Whether all that was submitted is done: the kernels, not their requests. */
  synchronized boolean idle() {
    if (released) {
      return true;
    }
    long now = submitted;
    if (recorded != now) {
      try {
        CudaCalls.eventRecord(gpu.handle(), event, stream);
      } catch (RdmaException e) {
        // Nothing runs in a dead context.
        return true;
      }
      recorded = now;
      reached = false;
    }
    reached |= CudaCalls.eventDone(gpu.handle(), event);
    return reached;
  }

  /** Frees memory that a kernel may still read. */
  void adopt(BatchMemory memory) {
    gpu.park(memory::free);
  }

  @Override
  public void close() {
    if (!gate.close()) {
      return;
    }
    long deadline = Deadline.after(CLOSE_TIMEOUT);
    gpu.forget(this);
    boolean quiet = gate.awaitUnused(deadline);
    while (quiet && !idle()) {
      quiet = !Deadline.passed(deadline);
      LockSupport.parkNanos(20_000);
    }
    if (!quiet) {
      Quarantine.report(name, null);
      return;
    }
    synchronized (this) {
      released = true;
      try {
        CudaCalls.eventDestroy(gpu.handle(), event);
        if (own) {
          CudaCalls.streamDestroy(gpu.handle(), stream);
        }
      } catch (RdmaException e) {
        Log.LOGGER.log(System.Logger.Level.DEBUG, "while closing " + name, e);
      }
    }
  }

  /** Such as {@code GPU stream initiator 2}. */
  @Override
  public String toString() {
    return name;
  }
}
