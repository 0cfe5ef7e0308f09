// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.Arrays;

/**
 * A device's event objects, used again and again. A handle is an event's index and the generation
 * of its use: asking about one that was given back is noticed, however often the object has been
 * recorded since. Any thread.
 */
public final class EventPool {
  /** The device's own events. Results are those of {@link DeviceEvents}. */
  public interface Device {
    /** A new event object; negative if there can't be one. */
    long create();

    /** Marks the work that is now on a stream. */
    int record(long event, long stream);

    /** Asks without waiting. */
    int query(long event);

    /** Frees the object; it need not be over. Within take or close. */
    void destroy(long event);
  }

  private static final int INDEX_BITS = 24;
  private static final int FIRST_LENGTH = 64;

  private final Device device;

  /** Indexed by the low bits of a handle. Replaced when it grows, under the monitor. */
  private volatile Entry[] entries = {};

  private int made;
  private int[] free = {};
  private int freeCount;
  private boolean closed;

  private static final class Entry {
    final long event;
    volatile long generation;
    volatile long order;

    Entry(long event) {
      this.event = event;
    }
  }

  /** A pool without events: they are made as they are needed. */
  public EventPool(Device device) {
    this.device = device;
  }

  /**
   * Takes an event that is in nobody's hands.
   *
   * @return a handle, or the device's negative answer
   * @throws IllegalStateException if the pool is closed
   */
  long take() {
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException("the device of this stream is closed");
      }
      if (freeCount > 0) {
        int index = free[--freeCount];
        return entries[index].generation << INDEX_BITS | index;
      }
    }
    long event = device.create();
    return event < 0 ? event : add(event);
  }

  private synchronized long add(long event) {
    int index = count();
    if (index == 1 << INDEX_BITS) {
      device.destroy(event);
      throw new IllegalStateException("more than " + index + " events are pending");
    }
    Entry[] now = entries;
    if (index == now.length) {
      now = Arrays.copyOf(now, Math.max(FIRST_LENGTH, index * 2));
    }
    now[index] = new Entry(event);
    made = index + 1;
    entries = now;
    return index;
  }

  /** How many event objects there are. */
  public synchronized int count() {
    return made;
  }

  /** How many of them are in somebody's hands. */
  public synchronized int inUse() {
    return made - freeCount;
  }

  private Entry entry(long handle) {
    int index = (int) handle & (1 << INDEX_BITS) - 1;
    Entry[] now = entries;
    Entry entry = handle >= 0 && index < now.length ? now[index] : null;
    if (entry == null || entry.generation != handle >>> INDEX_BITS) {
      throw new IllegalStateException("event " + handle + " was given back before");
    }
    return entry;
  }

  /** Marks a stream; returns 0 or the device's negative answer. */
  int record(long handle, long stream, long order) {
    Entry entry = entry(handle);
    entry.order = order;
    return device.record(entry.event, stream);
  }

  long order(long handle) {
    return entry(handle).order;
  }

  int query(long handle) {
    return device.query(entry(handle).event);
  }

  /** The device's own event, valid until it is given back. */
  public long event(long handle) {
    return entry(handle).event;
  }

  /** Gives an event back. */
  synchronized void release(long handle) {
    Entry entry = entry(handle);
    entry.generation++;
    if (closed) {
      return;
    }
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, Math.max(FIRST_LENGTH, freeCount * 2));
    }
    free[freeCount++] = (int) handle & (1 << INDEX_BITS) - 1;
  }

  /** Frees all events, also those in somebody's hands: the device answers no more for them. */
  public synchronized void close() {
    if (!closed) {
      closed = true;
      for (int i = 0; i < made; i++) {
        device.destroy(entries[i].event);
      }
    }
  }
}
