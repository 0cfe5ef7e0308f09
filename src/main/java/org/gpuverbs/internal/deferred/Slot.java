// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One send, from the call until its source may be used again; then the next. A subclass holds what
 * is sent.
 *
 * <p>The word (generation and state) decides races: whoever moves it from WAITING owns what happens
 * next. Between taking and admitting, the fields belong to the caller of send; afterwards to the
 * holder of the queue's lock.
 */
public abstract class Slot implements Waiter {
  static final int FREE = 0;
  static final int WAITING = 1;
  static final int RELEASING = 2;
  static final int RELEASED = 3;
  static final int DELIVERED = 4;
  static final int CANCELLED = 5;
  static final int FAILED = 6;

  /** Delivered, and the receiver has let go of it. */
  static final int RETURNED = 7;

  private static final int STATE_BITS = 4;
  private static final int STATE_MASK = (1 << STATE_BITS) - 1;
  private static final int CODE_BITS = 16;
  private static final VarHandle WORD;
  private static final VarHandle FAILURE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      WORD = lookup.findVarHandle(Slot.class, "word", long.class);
      FAILURE = lookup.findVarHandle(Slot.class, "failure", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final int index;
  final Chain.Link inFlow = new Chain.Link(this);
  final Chain.Link inReady = new Chain.Link(this);
  @Nullable Slot nextIncoming;
  @Nullable Slot nextNotice;

  /** Whose send it is; set before the slot is admitted. */
  @Nullable DeferredQueue queue;

  @Nullable Flow flow;
  boolean ordered;
  @Nullable SendListener listener;

  /** What it waits for: recorded by the caller, moved to the lines at admission. */
  @Nullable DeviceEvents[] streams = new DeviceEvents[1];

  long[] events = new long[1];
  int eventCount;

  /** Events that are not over. */
  int waiting;

  boolean ready;

  /** Cancelled or failed, and the owner has taken note. */
  boolean withdrawn;

  /** Why it failed: a status or syndrome; and the first device error among its events. */
  int code;

  @Nullable Throwable cause;
  int deviceResult;
  @Nullable RuntimeException deviceError;

  /** Where it went. */
  @Nullable Outlet outlet;

  private boolean sourceFree;
  long calledAt;

  @SuppressWarnings("unused") // through WORD
  private volatile long word;

  /** The last generation that failed, and its code; -1 none has. */
  private volatile long failure = -1;

  /** A free slot. */
  protected Slot(int index) {
    this.index = index;
  }

  // ---- the word

  /** Which send of this slot it is. */
  protected long generation() {
    return (long) WORD.getAcquire(this) >>> STATE_BITS;
  }

  int state() {
    return (int) (long) WORD.getAcquire(this) & STATE_MASK;
  }

  static long generationOf(long word) {
    return word >>> STATE_BITS;
  }

  static int stateOf(long word) {
    return (int) word & STATE_MASK;
  }

  long word() {
    return (long) WORD.getAcquire(this);
  }

  /** By the slot's owner of the moment. */
  void state(int to) {
    WORD.setRelease(this, generation() << STATE_BITS | to);
  }

  /** Decides a race; false if the slot has moved on. */
  boolean move(long generation, int from, int to) {
    long base = generation << STATE_BITS;
    return WORD.compareAndSet(this, base | from, base | to);
  }

  boolean move(int from, int to) {
    return move(generation(), from, to);
  }

  /** For those who ask later: this generation failed. Before {@link #recycle}. */
  void remember(int failed) {
    FAILURE.setRelease(this, generation() << CODE_BITS | failed & 0xffff);
  }

  /** Whether generation failed: its code; 0 it did not; {@code expired} if that is forgotten. */
  int recall(long generation, int expired) {
    long last = (long) FAILURE.getAcquire(this);
    if (last < 0 || generation > last >>> CODE_BITS) {
      return 0;
    }
    return generation == last >>> CODE_BITS ? (short) last : expired;
  }

  /** The next generation, free. */
  void recycle() {
    flow = null;
    listener = null;
    outlet = null;
    cause = null;
    deviceResult = 0;
    deviceError = null;
    eventCount = 0;
    waiting = 0;
    code = 0;
    ready = false;
    withdrawn = false;
    sourceFree = false;
    WORD.setRelease(this, generation() + 1 << STATE_BITS | FREE);
  }

  /** By the subclass: the request carries its data, so the source is free once it is released. */
  protected void sourceFree(boolean now) {
    sourceFree = now;
  }

  boolean sourceFree() {
    return sourceFree;
  }

  // ---- events

  /** By the caller of send: waits for one more event, which is the slot's from now on. */
  public void await(DeviceEvents stream, long event) {
    if (eventCount == events.length) {
      events = Arrays.copyOf(events, eventCount * 2);
      streams = Arrays.copyOf(streams, eventCount * 2);
    }
    streams[eventCount] = stream;
    events[eventCount++] = event;
  }

  /** Gives back events that no line has taken over. */
  void dropEvents() {
    for (int i = 0; i < eventCount; i++) {
      DeviceEvents stream = streams[i];
      if (stream != null) {
        stream.release(events[i]);
        streams[i] = null;
      }
    }
    eventCount = 0;
  }

  @Override
  public void eventOver(DeviceEvents stream, int result) {
    DeferredQueue owner = queue;
    if (owner != null) {
      owner.eventOver(this, stream, result);
    }
  }

  /** The send ends without having been released; once, before the slot is used again. */
  protected void withdrawn() {}

  /** Frees what the subclass holds; the slot is not used again. */
  protected abstract void dispose();
}
