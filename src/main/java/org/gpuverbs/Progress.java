// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.OneThread;
import org.jspecify.annotations.Nullable;

/**
 * Polls completion queues, tickets, device work and deferred sends, and hands on what it finds:
 * completions to handlers, done batches to their stages.
 *
 * <p>Either call {@link #doWork} from a loop of one's own, one thread at a time, or {@link #start}
 * a thread. Everything else may be called from any thread.
 */
public final class Progress implements AutoCloseable {
  private static final int COMPLETIONS = 64;
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  private record Source(
      CompletionQueue queue, Consumer<Completions> handler, Completions completions) {}

  private record Pending(
      QueuePair queuePair,
      int generation,
      long ticket,
      Executor executor,
      CompletableFuture<Long> stage) {
    long poll() {
      return generation == queuePair.generation() ? queuePair.poll(ticket) : Status.NOT_CONNECTED;
    }
  }

  private final OneThread working = new OneThread("Progress.doWork");
  private final List<Source> sources = new CopyOnWriteArrayList<>();
  private final List<ProgressSource> others = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<Pending> incoming = new ConcurrentLinkedQueue<>();

  /** Of whoever is working. */
  private final List<Pending> pending = new ArrayList<>();

  private @Nullable Thread thread;
  private volatile boolean closed;
  private volatile boolean stop;

  private Progress() {}

  /**
   * Makes one that polls nothing yet.
   *
   * @return the progress, to be closed
   */
  public static Progress create() {
    return new Progress();
  }

  /**
   * Takes over a completion queue: from now on polling it elsewhere throws.
   *
   * @param queue the queue
   * @param handler called with what was taken, on the working thread; the completions are
   *     overwritten afterwards
   * @throws IllegalStateException if the queue belongs to a progress already, or this is closed
   */
  public void add(CompletionQueue queue, Consumer<Completions> handler) {
    requireOpen();
    queue.bind(this);
    sources.add(new Source(queue, handler, new Completions(COMPLETIONS)));
  }

  /**
   * Takes over a deferred sender: from now on working for it elsewhere throws.
   *
   * @param sender the sender
   * @throws IllegalStateException if the sender belongs to a progress already, or this is closed
   */
  public void add(DeferredSender sender) {
    add(sender.source());
  }

  /**
   * Takes over device completions: from now on working for them elsewhere throws.
   *
   * @param completions the completions
   * @throws IllegalStateException if they belong to a progress already, or this is closed
   */
  public void add(DeviceCompletions completions) {
    add(completions.source());
  }

  private void add(ProgressSource source) {
    requireOpen();
    source.bind(this);
    others.add(source);
  }

  CompletionStage<Long> watch(QueuePair qp, int generation, long ticket, Executor executor) {
    CompletableFuture<Long> stage = new CompletableFuture<>();
    Pending entry = new Pending(qp, generation, ticket, executor, stage);
    incoming.add(entry);
    if (closed && incoming.remove(entry)) {
      fail(entry);
    }
    Thread worker = thread;
    if (worker != null) {
      LockSupport.unpark(worker);
    }
    return stage.minimalCompletionStage();
  }

  /**
   * Looks once at everything.
   *
   * @return how many completions and done batches were handed on, and how much was done for
   *     deferred sends; for {@link IdleStrategy#idle}
   * @throws IllegalStateException if another thread is working, or this is closed
   */
  public int doWork() {
    working.enter();
    try {
      requireOpen();
      return look();
    } finally {
      working.exit();
    }
  }

  private int look() {
    int work = 0;
    for (Source source : sources) {
      if (source.queue.isClosed()) {
        sources.remove(source);
        continue;
      }
      int taken = source.queue.take(source.completions);
      if (taken > 0) {
        source.handler.accept(source.completions);
        work += taken;
      }
    }
    for (ProgressSource other : others) {
      if (other.isClosed()) {
        others.remove(other);
        continue;
      }
      work += other.look();
    }
    for (Pending entry = incoming.poll(); entry != null; entry = incoming.poll()) {
      pending.add(entry);
    }
    for (int i = pending.size() - 1; i >= 0; i--) {
      Pending entry = pending.get(i);
      long result = entry.poll();
      if (result != Status.PENDING) {
        Pending moved = pending.removeLast();
        if (moved != entry) {
          pending.set(i, moved);
        }
        finish(entry, result);
        work++;
      }
    }
    return work;
  }

  private static void finish(Pending entry, long result) {
    Runnable completion =
        result == Status.DONE
            ? () -> entry.stage.complete(entry.ticket)
            : () ->
                entry.stage.completeExceptionally(
                    entry.queuePair.failure("ticket " + entry.ticket, result));
    try {
      entry.executor.execute(completion);
    } catch (RuntimeException e) {
      // Rejected, most likely. The stage's owner must learn of it all the same.
      entry.stage.completeExceptionally(e);
    }
  }

  private static void fail(Pending entry) {
    finish(entry, Status.CLOSED);
  }

  /**
   * Starts a daemon thread that works until close.
   *
   * @param idle what it does when there is nothing to do
   * @throws IllegalStateException if a thread was started before, or this is closed
   */
  public synchronized void start(IdleStrategy idle) {
    requireOpen();
    if (thread != null) {
      throw new IllegalStateException("this Progress has a thread already");
    }
    thread = Thread.ofPlatform().daemon().name("gpuverbs-progress").start(() -> run(idle));
  }

  private void run(IdleStrategy idle) {
    while (!stop) {
      int work = 0;
      try {
        work = doWork();
      } catch (RuntimeException e) {
        if (!stop) {
          Log.LOGGER.log(Level.WARNING, "a Progress goes on after an exception", e);
        }
      }
      idle.idle(work);
    }
  }

  /**
   * Works on until every stage is complete and nothing is pending or the time is over, then lets go
   * of queues, senders and device completions, which are not closed; stages of its own that are
   * left fail with {@link Status#CLOSED}. Closing twice is fine.
   *
   * @param timeout how long to work on
   * @throws IllegalStateException if another thread is working and does not let go in time
   */
  public void close(Duration timeout) {
    long deadline = Deadline.after(timeout);
    synchronized (this) {
      if (closed) {
        return;
      }
      stopThread();
    }
    IdleStrategy idle = IdleStrategy.backoff();
    while (true) {
      boolean over = Deadline.passed(deadline);
      try {
        working.enter();
      } catch (IllegalStateException e) {
        if (over) {
          throw e;
        }
        idle.idle(0);
        continue;
      }
      try {
        int work = closed ? 0 : look();
        if (over || nothingPending()) {
          letGo();
          return;
        }
        idle.idle(work);
      } finally {
        working.exit();
      }
    }
  }

  private boolean nothingPending() {
    return pending.isEmpty()
        && incoming.isEmpty()
        && others.stream().allMatch(other -> other.pending() == 0);
  }

  private void stopThread() {
    stop = true;
    Thread worker = thread;
    if (worker != null) {
      LockSupport.unpark(worker);
    }
  }

  private void letGo() {
    closed = true;
    sources.forEach(source -> source.queue.unbind(this));
    sources.clear();
    others.forEach(other -> other.unbind(this));
    others.clear();
    for (Pending entry = incoming.poll(); entry != null; entry = incoming.poll()) {
      fail(entry);
    }
    pending.forEach(Progress::fail);
    pending.clear();
  }

  /** As {@link #close(Duration)} with five seconds. */
  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("this Progress is closed");
    }
  }
}
