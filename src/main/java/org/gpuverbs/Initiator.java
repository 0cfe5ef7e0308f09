// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.gpuverbs.internal.queue.Deadline;

/**
 * Who runs the submit path: reserves slots, writes the queue entries, publishes them and rings the
 * doorbell.
 *
 * <p>One thread at a time, which is checked; several initiators may serve one queue pair at once,
 * unless its policy is {@linkplain SubmitPolicy#exclusive exclusive}. An initiator may serve any
 * number of queue pairs.
 *
 * <p>A ticket belongs to the queue pair that the batch was built for; {@link QueuePair#poll} and
 * {@link QueuePair#await} take it from any thread. {@link #poll} and {@link #await} here mean the
 * queue pair that this initiator last submitted to.
 */
public sealed interface Initiator extends AutoCloseable permits CpuLanes, GpuStream {
  /**
   * Submits a batch: all of it, or nothing. One downcall, no allocation, never waits for room. A
   * loop of one's own around {@link Status#FULL} should yield: a software NIC needs a core too.
   *
   * @param batch the requests; may be submitted again at once, and not changed before the ticket is
   *     done
   * @return the ticket of the batch's last request, or {@link Status#FULL}, {@link
   *     Status#NOT_CONNECTED}, {@link Status#QP_ERROR}, {@link Status#CLOSED}, {@link
   *     Status#TIMEOUT} or {@link Status#BUSY}
   * @throws IllegalStateException if this initiator or the batch is closed or used by another
   *     thread, or if the queue pair is exclusive and belongs to another initiator
   */
  long submit(Batch batch);

  /**
   * As {@link #submit(Batch)}, but waits while the answer is {@link Status#FULL} or {@link
   * Status#BUSY}. The wait is a loop in Java that a virtual thread may run.
   *
   * @param batch the requests
   * @param timeout how long to wait for room
   * @return a ticket or a sentinel; FULL or BUSY if there was no room in time
   * @throws InterruptedException if interrupted while waiting; nothing was submitted
   * @throws IllegalStateException as {@link #submit(Batch)}
   */
  default long submit(Batch batch, Duration timeout) throws InterruptedException {
    long deadline = Deadline.after(timeout);
    IdleStrategy idle = IdleStrategy.backoff();
    while (true) {
      long ticket = submit(batch);
      if ((ticket != Status.FULL && ticket != Status.BUSY) || Deadline.passed(deadline)) {
        return ticket;
      }
      if (Thread.interrupted()) {
        throw new InterruptedException(
            "interrupted while waiting for room in " + batch.queuePair());
      }
      idle.idle(0);
    }
  }

  /**
   * Submits a batch; the stage completes when the batch has.
   *
   * @param batch the requests
   * @param progress who polls the ticket
   * @param executor who completes the stage
   * @return a stage with the ticket; fails with {@link RdmaException}: at once if the batch was not
   *     taken (such as {@link Status#FULL}), later with the syndrome, or with {@link Status#CLOSED}
   *     if the queue pair or the progress is closed
   * @throws IllegalStateException as {@link #submit(Batch)}
   */
  default CompletionStage<Long> submitAsync(Batch batch, Progress progress, Executor executor) {
    Objects.requireNonNull(progress, "progress");
    Objects.requireNonNull(executor, "executor");
    QueuePair qp = batch.queuePair();
    int generation = qp.generation();
    long ticket = submit(batch);
    if (ticket < 0) {
      return CompletableFuture.failedStage(RdmaException.of("submit to " + qp, ticket));
    }
    return progress.watch(qp, generation, ticket, executor);
  }

  /**
   * What became of a ticket of the queue pair last submitted to. Allocates nothing.
   *
   * @param ticket as {@link #submit} gave it; a negative one is returned as it is
   * @return as {@link QueuePair#poll}
   * @throws IllegalStateException if nothing was submitted yet
   */
  long poll(long ticket);

  /**
   * Waits for a ticket of the queue pair last submitted to.
   *
   * @param ticket as {@link #submit} gave it
   * @param timeout how long to wait
   * @throws RdmaException as {@link QueuePair#await}
   * @throws InterruptedException if interrupted
   * @throws IllegalStateException if nothing was submitted yet
   */
  void await(long ticket, Duration timeout) throws InterruptedException;

  /**
   * How many threads write queue entries at once.
   *
   * @return 1 or more
   */
  int lanes();

  /**
   * Whether {@link #close} was called.
   *
   * @return true from then on
   */
  boolean isClosed();

  /** Finishes what was submitted and frees what it holds. Closing twice is fine. Any thread. */
  @Override
  void close();
}
