// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sends that wait: for events, for those before them, for room.
 *
 * <p>Any thread sends and cancels, one at a time works. A lock that nobody ever waits for decides
 * who may touch what is behind {@link Sends}: a sender that does not get it leaves its send for the
 * next pass (lock-free), and so does one that finds others there, which keeps each thread's order.
 * Nothing here waits for a device, for room, or for another thread to be scheduled.
 */
public final class DeferredQueue {
  private static final VarHandle LOCK;
  private static final int SPINS = 1000;

  /** For those who hold the lock: a submit may wait for its turn. */
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  static {
    try {
      LOCK = MethodHandles.lookup().findVarHandle(DeferredQueue.class, "lock", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final SlotPool pool;
  private final Counters counters = new Counters();
  private final Sends sends;
  private final SlotStack incoming = new SlotStack(SlotStack.Kind.INCOMING);
  private final SlotStack notices = new SlotStack(SlotStack.Kind.NOTICE);

  @SuppressWarnings("unused") // through LOCK
  private volatile int lock;

  /**
   * Makes an empty queue.
   *
   * @param capacity how many sends can be under way, 1..2<sup>20</sup>
   * @param maker makes the slots
   */
  public DeferredQueue(int capacity, IntFunction<? extends Slot> maker) {
    this.pool = new SlotPool(capacity, maker);
    this.sends = new Sends(pool, counters);
  }

  /** What was counted. */
  public Counters counters() {
    return counters;
  }

  /** Sends between call and end, sources of withdrawn ones that are still busy included. */
  public int underWay() {
    return pool.used();
  }

  // ---- sending: any thread

  /**
   * A slot to be admitted or {@linkplain #giveBack given back}; null and counted if none is left.
   */
  public @Nullable Slot take() {
    Slot slot = pool.take();
    if (slot == null) {
      counters.refuse();
    }
    return slot;
  }

  /** The slot was not used after all. */
  public void giveBack(Slot slot) {
    slot.dropEvents();
    slot.withdrawn();
    slot.recycle();
    pool.free(slot);
  }

  /** Says what the slot's send is. Before {@link #admit} and {@link #sent}. */
  public void prepare(Slot slot, Flow flow, boolean ordered, @Nullable SendListener listener) {
    slot.queue = this;
    slot.flow = flow;
    slot.ordered = ordered;
    slot.listener = listener;
  }

  /** Whether the caller has the lock now; then it must {@link #exit}. */
  public boolean tryEnter() {
    return LOCK.compareAndSet(this, 0, 1);
  }

  /** Ends what {@link #tryEnter} began, then tells listeners what happened. */
  public void exit() {
    Runnable[] due = sends.takeDue();
    LOCK.setRelease(this, 0);
    if (due != null) {
      Sends.run(due);
    }
  }

  /**
   * With the lock: where a send that waits for nothing may go at once; null if something is ahead
   * of it or the way is not known.
   */
  public @Nullable Outlet direct(Flow flow, boolean ordered) {
    return incoming.isEmpty() ? sends.direct(flow, ordered) : null;
  }

  /** With the lock: the prepared slot is about to be handed to an outlet. */
  public void sending(Slot slot) {
    slot.state(Slot.RELEASING);
  }

  /** With the lock: the slot's send went out by {@link #direct}. */
  public long sent(Slot slot, Outlet outlet, long outletTicket) {
    long ticket = SlotPool.ticket(slot);
    counters.add(Counters.INLINE, 1);
    sends.launched(slot, outlet, outletTicket);
    return ticket;
  }

  /** Takes over a prepared slot; returns its ticket. */
  public long admit(Slot slot) {
    slot.calledAt = System.nanoTime();
    slot.state(Slot.WAITING);
    long ticket = SlotPool.ticket(slot);
    if (tryEnter()) {
      try {
        if (incoming.isEmpty()) {
          sends.admit(slot);
          return ticket;
        }
      } finally {
        exit();
      }
    }
    incoming.push(slot);
    return ticket;
  }

  /** With the lock, after {@link #direct}: as {@link #admit}, for a send that found no room. */
  public long admitInside(Slot slot) {
    slot.calledAt = System.nanoTime();
    slot.state(Slot.WAITING);
    sends.admit(slot);
    return SlotPool.ticket(slot);
  }

  // ---- tickets: any thread

  /** 0 once delivered, else a status or syndrome. */
  public int poll(long ticket) {
    return pool.poll(ticket);
  }

  /** Whether the send has gone out; false if it is waiting, or was withdrawn. */
  public boolean released(long ticket) {
    int state = pool.state(ticket);
    return state == Slot.FREE
        ? pool.poll(ticket) == Status.DONE
        : state == Slot.RELEASED || state == Slot.DELIVERED || state == Slot.RETURNED;
  }

  /**
   * Withdraws a send; its source stays busy until its events are over.
   *
   * @return false if it is released, about to be, or over
   */
  public boolean cancel(long ticket) {
    Slot slot = pool.slot(ticket);
    if (!slot.move(SlotPool.generation(ticket), Slot.WAITING, Slot.CANCELLED)) {
      return false;
    }
    notices.push(slot);
    return true;
  }

  /** The receiver has let go of what an outlet without tickets delivered. */
  public void sourceReturned(Slot slot, long generation) {
    if (slot.move(generation, Slot.DELIVERED, Slot.RETURNED)
        || slot.move(generation, Slot.RELEASING, Slot.RETURNED)
        || slot.move(generation, Slot.DELIVERED, Slot.RETURNED)) {
      notices.push(slot);
    }
  }

  // ---- working: one thread at a time

  /**
   * Looks once at everything that may have moved.
   *
   * @param most events, releases and completions at once, each
   * @return how much was done
   */
  public int work(int most) {
    if (!enterSoon()) {
      return 0;
    }
    try {
      return pass(most);
    } finally {
      exit();
    }
  }

  private int pass(int most) {
    // In this order: whatever a notice is about was pushed before it.
    Slot noticed = notices.takeAll();
    int work = 0;
    for (Slot slot = incoming.takeAll(); slot != null; work++) {
      Slot next = incoming.after(slot);
      slot.nextIncoming = null;
      sends.admit(slot);
      slot = next;
    }
    while (noticed != null) {
      Slot next = notices.after(noticed);
      noticed.nextNotice = null;
      sends.noticed(noticed);
      noticed = next;
      work++;
    }
    return work + sends.look(most);
  }

  /** Others hold the lock for as long as it takes to submit. */
  private boolean enterSoon() {
    for (int i = 0; i < SPINS; i++) {
      if (tryEnter()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /**
   * Makes a failed flow usable; false if it still has sends queued, or the lock is not free for
   * long.
   */
  public boolean reset(Flow flow) {
    long began = System.nanoTime();
    while (!enterSoon()) {
      if (System.nanoTime() - began > PATIENCE_NANOS) {
        return false;
      }
      Thread.yield();
    }
    try {
      return incoming.isEmpty() && sends.reset(flow);
    } finally {
      exit();
    }
  }

  void eventOver(Slot slot, DeviceEvents stream, int result) {
    sends.eventOver(slot, stream, result);
  }

  /** Fails what is left and frees the slots' memory. Nobody may send any more. */
  public void abandon() {
    boolean halfway = true;
    while (halfway) {
      while (!enterSoon()) {
        Thread.yield();
      }
      try {
        pass(Integer.MAX_VALUE);
        // A cancel that has decided its race tells in a moment.
        halfway = sends.halfway();
        if (!halfway) {
          sends.abandon();
        }
      } finally {
        exit();
      }
    }
  }
}
