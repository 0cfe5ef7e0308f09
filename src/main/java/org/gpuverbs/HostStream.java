// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.gpuverbs.internal.deferred.DeviceEvents;
import org.gpuverbs.internal.queue.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A stream on the CPU: tasks that a virtual thread of its own runs one after the other. It stands
 * in for a device stream where there is no device, and behaves like one: callers never wait, and
 * once a task has thrown, everything behind it fails.
 *
 * <p>Any thread; tasks run in the order of the calls.
 */
public final class HostStream extends DeviceStream implements AutoCloseable {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  /** errno of Linux: what events answer after a task has thrown, or after close. */
  private static final int EIO = 5;

  private static final int ECANCELED = 125;

  private final String name;
  private final Events events = new Events();
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private @Nullable Thread worker;
  private int waiters;

  /** Tasks enqueued; written with the monitor held. */
  private volatile long enqueued;

  /** Tasks finished. */
  private volatile long completed;

  private volatile @Nullable Throwable failure;
  private volatile boolean closed;

  private HostStream(String name) {
    this.name = name;
  }

  /**
   * Makes a stream with nothing to do.
   *
   * @param name how messages call it
   * @return the stream, to be closed
   */
  public static HostStream create(String name) {
    return new HostStream(Objects.requireNonNull(name, "name"));
  }

  /**
   * Adds a task. Returns at once.
   *
   * @param task runs after all before it; if it throws, it and everything behind it has failed
   * @throws IllegalStateException if the stream is closed
   */
  public void enqueue(Runnable task) {
    Objects.requireNonNull(task, "task");
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException(this + " is closed");
      }
      tasks.add(task);
      enqueued++;
      if (worker == null) {
        worker = Thread.ofVirtual().name("gpuverbs-" + name).unstarted(this::run);
        worker.start();
      }
    }
  }

  /**
   * Adds work that takes some time and no processor.
   *
   * @param time how long, 0 or more
   * @throws IllegalStateException if the stream is closed
   */
  public void delay(Duration time) {
    long nanos = time.toNanos();
    enqueue(
        () -> {
          long end = System.nanoTime() + nanos;
          for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
          }
        });
  }

  private void run() {
    for (Runnable task = next(); task != null; task = next()) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        failure = e;
      }
      synchronized (this) {
        if (failure == null && !closed) {
          completed++;
        }
        if (waiters > 0) {
          notifyAll();
        }
      }
    }
  }

  private synchronized @Nullable Runnable next() {
    if (failure != null || closed) {
      tasks.clear();
    }
    Runnable task = tasks.poll();
    if (task == null) {
      worker = null;
      notifyAll();
    }
    return task;
  }

  /**
   * Waits for everything enqueued so far: what deferred sends are there to avoid.
   *
   * @param timeout how long to wait
   * @return false if it is not done in time
   * @throws RdmaException with {@link Status#DEVICE_ERROR} if a task has thrown, or the stream was
   *     closed before
   * @throws InterruptedException if interrupted
   */
  public synchronized boolean await(Duration timeout) throws InterruptedException {
    long deadline = Deadline.after(timeout);
    long event = enqueued;
    waiters++;
    try {
      while (true) {
        int result = events.query(event);
        if (result < 0) {
          throw new RdmaException(
              events.describe(result), Status.DEVICE_ERROR, -result, 0, "", failure);
        }
        if (result == DeviceEvents.DONE) {
          return true;
        }
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } finally {
      waiters--;
    }
  }

  /** Drops the tasks that have not begun; what waits for them fails. Closing twice is fine. */
  @Override
  public void close() {
    long deadline = Deadline.after(CLOSE_TIMEOUT);
    boolean interrupted = false;
    synchronized (this) {
      closed = true;
      tasks.clear();
      waiters++;
      while (worker != null && worker != Thread.currentThread() && !Deadline.passed(deadline)) {
        try {
          TimeUnit.NANOSECONDS.timedWait(this, deadline - System.nanoTime());
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      waiters--;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  DeviceEvents events() {
    return events;
  }

  /** Such as {@code host stream "device 0"}. */
  @Override
  public String toString() {
    return "host stream \"" + name + '"';
  }

  /** An event is the number of tasks enqueued before it. */
  private final class Events implements DeviceEvents {
    @Override
    public int idle() {
      return query(enqueued);
    }

    @Override
    public long record() {
      return enqueued;
    }

    @Override
    public long order(long event) {
      return event;
    }

    @Override
    public int query(long event) {
      // Before the count: what was done before the failure is done.
      boolean failed = failure != null;
      boolean dropped = closed;
      if (completed >= event) {
        return DONE;
      }
      if (failed) {
        return -EIO;
      }
      return dropped ? -ECANCELED : NOT_YET;
    }

    @Override
    public void release(long event) {}

    @Override
    public String describe(int error) {
      Throwable thrown = failure;
      return "a task of "
          + HostStream.this
          + (thrown == null ? " was dropped when it was closed" : " has thrown " + thrown);
    }
  }
}
