// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.gpuverbs.internal.deferred.DeferredQueue;
import org.gpuverbs.internal.deferred.Outlet;
import org.gpuverbs.internal.deferred.Port;
import org.gpuverbs.internal.deferred.Slot;
import org.jspecify.annotations.Nullable;

/**
 * Where a receiver in this JVM finds descriptors of data that lies where the sender made it, to be
 * read in place: no copy, and no queue pair. Any thread.
 */
public final class LocalInbox implements AutoCloseable {
  private final int capacity;
  private final boolean announced;
  private final ConcurrentLinkedQueue<LocalMessage> messages = new ConcurrentLinkedQueue<>();
  private final AtomicInteger size = new AtomicInteger();
  private volatile boolean closed;

  private LocalInbox(int capacity, boolean announced) {
    if (capacity < 1) {
      throw new IllegalArgumentException("a capacity of " + capacity + ": take 1 or more");
    }
    this.capacity = capacity;
    this.announced = announced;
  }

  /**
   * An inbox whose messages come once their data is there.
   *
   * @param capacity how many messages it holds; while it is full, sends to it wait
   * @return the inbox, to be closed
   */
  public static LocalInbox ofReady(int capacity) {
    return new LocalInbox(capacity, false);
  }

  /**
   * An inbox whose messages come at once, and tell by {@link LocalMessage#poll} when their data is
   * there: a receiver that has device work of its own can go ahead.
   *
   * @param capacity how many messages it holds; while it is full, sends to it wait
   * @return the inbox, to be closed
   */
  public static LocalInbox ofAnnounced(int capacity) {
    return new LocalInbox(capacity, true);
  }

  boolean announced() {
    return announced;
  }

  /**
   * Takes the oldest message.
   *
   * @return a message, to be closed; null if there is none
   */
  public @Nullable LocalMessage poll() {
    LocalMessage message = messages.poll();
    if (message != null) {
      size.decrementAndGet();
    }
    return message;
  }

  /**
   * How many messages wait.
   *
   * @return 0..capacity
   */
  public int size() {
    return size.get();
  }

  /** Returns what was not taken to its senders, whose further sends fail. Closing twice is fine. */
  @Override
  public void close() {
    closed = true;
    for (LocalMessage message = poll(); message != null; message = poll()) {
      message.close();
    }
  }

  Port port(DeferredSender sender) {
    return new InboxPort(new InboxOutlet(sender.queue()));
  }

  /** Such as {@code an inbox of 64 messages}. */
  @Override
  public String toString() {
    return "an inbox of " + capacity + " messages";
  }

  private static final class InboxPort extends Port {
    private final InboxOutlet outlet;

    InboxPort(InboxOutlet outlet) {
      this.outlet = outlet;
    }

    @Override
    protected Outlet resolve() {
      return outlet;
    }
  }

  /** One sender's way in. */
  final class InboxOutlet extends Outlet {
    private final DeferredQueue queue;

    InboxOutlet(DeferredQueue queue) {
      this.queue = queue;
    }

    @Override
    protected boolean hasTickets() {
      return false;
    }

    @Override
    protected long poll(long ticket) {
      return Status.DONE;
    }

    @Override
    protected long release(Slot slot) {
      if (closed) {
        return Status.CLOSED;
      }
      if (size.incrementAndGet() > capacity) {
        size.decrementAndGet();
        return RETRY;
      }
      messages.add(((SendSlot) slot).message(queue));
      if (closed) {
        close();
      }
      return 0;
    }
  }
}
