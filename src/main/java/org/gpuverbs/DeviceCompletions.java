// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.gpuverbs.internal.deferred.DeviceEvents;
import org.gpuverbs.internal.deferred.EventLines;
import org.gpuverbs.internal.deferred.Waiter;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.OneThread;
import org.gpuverbs.internal.queue.UseGate;
import org.jspecify.annotations.Nullable;

/**
 * Tells when device work is over, as stages, without blocking anybody: {@link #after} marks the
 * stream at the call, {@link #doWork} or a {@link Progress} asks about the marks.
 *
 * <p>A device that fails completes its stages exceptionally, by name; it is never "not yet". No
 * driver thread calls into Java. {@link #after} may be called by any thread; one thread at a time
 * works, which is checked.
 */
public final class DeviceCompletions implements AutoCloseable {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  /** So that a scheduler gets back to its tasks. */
  private static final int AT_ONCE = 1024;

  private static final int ECANCELED = 125;

  private final Executor executor;
  private final OneThread working = new OneThread("DeviceCompletions.doWork");
  private final UseGate gate = new UseGate();
  private final ConcurrentLinkedQueue<Pending<?>> incoming = new ConcurrentLinkedQueue<>();
  private final AtomicInteger pending = new AtomicInteger();
  private final AtomicReference<@Nullable Progress> progress = new AtomicReference<>();
  private final EventLines lines = new EventLines();
  private final Source source = new Source();
  private volatile boolean finished;

  private DeviceCompletions(Executor executor) {
    this.executor = executor;
  }

  /**
   * Makes one that waits for nothing yet.
   *
   * @param executor completes the stages, and runs what hangs on them
   * @return the completions, to be closed
   */
  public static DeviceCompletions create(Executor executor) {
    return new DeviceCompletions(Objects.requireNonNull(executor, "executor"));
  }

  /**
   * Completes when the work that is now on the stream is over, and its writes are visible.
   *
   * @param stream the stream
   * @return a stage; fails with {@link RdmaException}: {@link Status#DEVICE_ERROR} by the device's
   *     name, or {@link Status#CLOSED} if this is closed before
   * @throws IllegalStateException if this is closed, or the stream is capturing a graph
   */
  public CompletionStage<Void> after(DeviceStream stream) {
    return watch(stream, null);
  }

  /**
   * As {@link #after(DeviceStream)}, with a value that is asked for when the work is over.
   *
   * @param stream the stream
   * @param whenOver called on the executor; what it throws fails the stage
   * @param <T> what it gives
   * @return a stage with the value
   * @throws IllegalStateException as {@link #after(DeviceStream)}
   */
  public <T> CompletionStage<T> after(DeviceStream stream, Supplier<T> whenOver) {
    return watch(stream, Objects.requireNonNull(whenOver, "whenOver"));
  }

  private <T> CompletionStage<T> watch(DeviceStream stream, @Nullable Supplier<T> whenOver) {
    if (!gate.enter()) {
      throw closed();
    }
    try {
      DeviceEvents events = stream.events();
      Pending<T> entry = new Pending<>(whenOver);
      int idle = events.idle();
      long event = idle == DeviceEvents.NOT_YET ? events.record() : idle;
      pending.incrementAndGet();
      if (idle != DeviceEvents.NOT_YET || event < 0) {
        entry.eventOver(events, (int) event);
      } else {
        entry.events = events;
        entry.event = event;
        incoming.add(entry);
      }
      return entry.stage.minimalCompletionStage();
    } finally {
      gate.exit();
    }
  }

  /** A stage and its mark. */
  private final class Pending<T> implements Waiter {
    private final CompletableFuture<T> stage = new CompletableFuture<>();
    private final @Nullable Supplier<T> whenOver;
    private @Nullable DeviceEvents events;
    private long event;

    Pending(@Nullable Supplier<T> whenOver) {
      this.whenOver = whenOver;
    }

    @Override
    public void eventOver(DeviceEvents stream, int result) {
      pending.decrementAndGet();
      RdmaException failure = result < 0 ? failure(stream, result) : null;
      try {
        executor.execute(() -> complete(failure));
      } catch (RuntimeException e) {
        // Rejected, most likely. The stage's owner must learn of it all the same.
        stage.completeExceptionally(failure == null ? e : failure);
      }
    }

    private RdmaException failure(DeviceEvents stream, int result) {
      return finished
          ? new RdmaException("these completions were closed", Status.CLOSED, 0, 0, "", null)
          : new RdmaException(stream.describe(result), Status.DEVICE_ERROR, -result, 0, "", null);
    }

    private void complete(@Nullable RdmaException failure) {
      if (failure != null) {
        stage.completeExceptionally(failure);
        return;
      }
      try {
        stage.complete(whenOver == null ? null : whenOver.get());
      } catch (RuntimeException | Error e) {
        stage.completeExceptionally(e);
      }
    }
  }

  /**
   * Looks once at all marks that may be over: one for each stream, and more where one is over.
   *
   * @return how much was over; for {@link IdleStrategy#idle}
   * @throws IllegalStateException if another thread is working, this belongs to a {@link Progress},
   *     or is closed
   */
  public int doWork() {
    if (progress.get() != null) {
      throw new IllegalStateException(
          "these completions belong to a Progress, which works for them");
    }
    if (gate.closed()) {
      throw closed();
    }
    return look();
  }

  private int look() {
    working.enter();
    try {
      return finished ? 0 : pass();
    } finally {
      working.exit();
    }
  }

  private int pass() {
    for (Pending<?> entry = incoming.poll(); entry != null; entry = incoming.poll()) {
      DeviceEvents events = entry.events;
      if (events != null) {
        lines.add(events, entry.event, entry);
      }
    }
    return lines.poll(AT_ONCE);
  }

  /**
   * How many stages wait for their work.
   *
   * @return 0 or more
   */
  public int pending() {
    return pending.get();
  }

  /** What a progress sees. */
  ProgressSource source() {
    return source;
  }

  private IllegalStateException closed() {
    return new IllegalStateException("these device completions are closed");
  }

  /**
   * Works on until no stage waits or the time is over; stages that are left fail with {@link
   * Status#CLOSED}. Closing twice is fine.
   *
   * @param timeout how long to work on
   * @throws IllegalStateException if another thread is working and does not let go in time
   */
  public void close(Duration timeout) {
    long deadline = Deadline.after(timeout);
    if (!gate.close()) {
      return;
    }
    IdleStrategy idle = IdleStrategy.backoff();
    while (!finished) {
      boolean over = Deadline.passed(deadline);
      if (Deadline.passed(deadline + CLOSE_TIMEOUT.toNanos())) {
        throw new IllegalStateException(
            "these device completions can't be closed: another thread is still using them");
      }
      int work = 0;
      if (working.tryEnter()) {
        try {
          work = finishOr(over);
        } finally {
          working.exit();
        }
      }
      idle.idle(work);
    }
  }

  /** Ends the stages if none waits or the time is over, else works. */
  private int finishOr(boolean over) {
    int work = pass();
    if (gate.awaitUnused(System.nanoTime()) && (over || pending.get() == 0)) {
      pass();
      finished = true;
      lines.abandon(-ECANCELED);
    }
    return work;
  }

  /** As {@link #close(Duration)} with five seconds. */
  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }

  /** What a progress sees. */
  private final class Source implements ProgressSource {
    @Override
    public int look() {
      return DeviceCompletions.this.look();
    }

    @Override
    public int pending() {
      return pending.get();
    }

    @Override
    public boolean isClosed() {
      return finished;
    }

    @Override
    public void bind(Progress owner) {
      if (!progress.compareAndSet(null, owner)) {
        throw new IllegalStateException("these completions belong to a Progress already");
      }
    }

    @Override
    public void unbind(Progress owner) {
      progress.compareAndSet(owner, null);
    }
  }
}
