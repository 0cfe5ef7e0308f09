// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** What the queue's lock guards: who waits for what, and what happens when it is over. */
final class Sends {
  private static final Logger LOGGER = System.getLogger("org.gpuverbs");

  /** errno of Linux, for events that nobody waits for any more. */
  private static final int ECANCELED = 125;

  private final SlotPool pool;
  private final Counters counters;
  private final EventLines lines = new EventLines();
  private final Releases releases = new Releases(this);
  private final List<Flights> flying = new ArrayList<>();

  /** Failed, and still read by lane threads. */
  private final ArrayDeque<Slot> lent = new ArrayDeque<>();

  private final List<Runnable> due = new ArrayList<>();
  private boolean closing;

  Sends(SlotPool pool, Counters counters) {
    this.pool = pool;
    this.counters = counters;
  }

  // ---- listeners

  Runnable @Nullable [] takeDue() {
    if (due.isEmpty()) {
      return null;
    }
    Runnable[] taken = due.toArray(Runnable[]::new);
    due.clear();
    return taken;
  }

  static void run(Runnable[] due) {
    for (Runnable call : due) {
      try {
        call.run();
      } catch (RuntimeException e) {
        LOGGER.log(Level.WARNING, "a deferred send's stage could not be completed", e);
      }
    }
  }

  private void tellFailed(Slot slot, boolean afterRelease) {
    SendListener listener = slot.listener;
    if (listener != null) {
      int code = slot.code;
      Throwable cause = slot.cause;
      due.add(() -> listener.failed(code, cause, afterRelease));
    }
  }

  private void tellSource(Slot slot, @Nullable Throwable cause) {
    SendListener listener = slot.listener;
    if (listener != null) {
      due.add(() -> listener.sourceReusable(cause));
    }
  }

  // ---- coming in

  void admit(Slot slot) {
    counters.add(Counters.ADMITTED, 1);
    counters.add(Counters.WAITING, 1);
    Flow flow = flow(slot);
    if (slot.ordered) {
      flow.waiting.add(slot.inFlow);
    }
    slot.waiting = slot.eventCount;
    for (int i = 0; i < slot.eventCount; i++) {
      DeviceEvents stream = slot.streams[i];
      if (stream != null) {
        slot.streams[i] = null;
        lines.add(stream, slot.events[i], slot);
      }
    }
    slot.eventCount = 0;
    if (slot.ordered && flow.failed()) {
      fail(slot, Status.FLUSHED, null);
    } else if (slot.waiting == 0) {
      ready(slot);
    }
  }

  static Flow flow(Slot slot) {
    Flow flow = slot.flow;
    if (flow == null) {
      throw new IllegalStateException("a slot without a send");
    }
    return flow;
  }

  @Nullable Outlet direct(Flow flow, boolean ordered) {
    if (!flow.port.ready.isEmpty() || ordered && !flow.waiting.isEmpty()) {
      return null;
    }
    Outlet outlet = flow.port.resolve();
    return outlet == null || ordered && !flow.follows(outlet) ? null : outlet;
  }

  // ---- one pass

  int look(int most) {
    int work = land(most);
    work += lines.poll(most);
    work += releases.release(most);
    for (int i = lent.size(); i > 0; i--) {
      Slot slot = lent.remove();
      Outlet outlet = slot.outlet;
      if (outlet == null || outlet.letGo(slot)) {
        finish(slot, null);
        work++;
      } else {
        lent.add(slot);
      }
    }
    return work;
  }

  private int land(int most) {
    int work = 0;
    for (int i = flying.size() - 1; i >= 0; i--) {
      Flights flights = flying.get(i);
      while (!flights.isEmpty() && work < most) {
        long result = flights.outlet.poll(flights.ticket());
        if (result == Status.PENDING) {
          break;
        }
        Slot slot = flights.pop();
        if (slot != null) {
          landed(slot, flights.outlet, (int) result);
        }
        work++;
      }
      if (flights.isEmpty()) {
        Flights last = flying.removeLast();
        if (last != flights) {
          flying.set(i, last);
        }
      }
    }
    return work;
  }

  private void landed(Slot slot, Outlet outlet, int result) {
    Flow flow = flow(slot);
    if (slot.ordered) {
      flow.inFlight--;
    }
    if (result == Status.DONE) {
      counters.add(Counters.DELIVERED, 1);
      SendListener listener = slot.listener;
      if (listener != null) {
        due.add(listener::delivered);
        if (!slot.sourceFree()) {
          due.add(() -> listener.sourceReusable(null));
        }
      }
      free(slot, false);
      return;
    }
    slot.code = result;
    slot.cause = outlet.why(result);
    slot.state(Slot.FAILED);
    counters.add(Counters.FAILED, 1);
    tellFailed(slot, true);
    if (slot.ordered) {
      flush(flow, null);
    }
    if (closing) {
      finish(slot, slot.sourceFree() ? null : closedEarly());
    } else if (outlet.letGo(slot)) {
      finish(slot, null);
    } else {
      lent.add(slot);
    }
  }

  void eventOver(Slot slot, DeviceEvents stream, int result) {
    slot.waiting--;
    if (result < 0 && slot.deviceError == null) {
      slot.deviceError = closing ? closedEarly() : deviceError(stream, result);
    }
    if (slot.withdrawn) {
      if (slot.waiting == 0) {
        finish(slot, slot.deviceError);
      }
    } else if (slot.state() == Slot.WAITING) {
      if (result < 0) {
        fail(slot, Status.DEVICE_ERROR, slot.deviceError);
      } else if (slot.waiting == 0) {
        ready(slot);
      }
    }
  }

  private static RdmaException deviceError(DeviceEvents stream, int result) {
    return new RdmaException(stream.describe(result), Status.DEVICE_ERROR, -result, 0, "", null);
  }

  private static RdmaException closedEarly() {
    return new RdmaException(
        "the sender was closed before the source was free", Status.CLOSED, 0, 0, "", null);
  }

  private void ready(Slot slot) {
    slot.ready = true;
    Flow flow = flow(slot);
    if (!slot.ordered || flow.waiting.first() == slot) {
      releases.add(flow.port, slot);
    }
  }

  /** The flow's first may go now, if it waits for nothing else. */
  private void advance(Flow flow) {
    Slot first = flow.waiting.first();
    if (first != null && first.ready && !first.inReady.linked()) {
      releases.add(flow.port, first);
    }
  }

  // ---- going out

  /** What outlet.release of a waiting slot has given. */
  void released(Slot slot, Outlet outlet, long ticket) {
    counters.add(Counters.WAITING, -1);
    counters.deferral(System.nanoTime() - slot.calledAt);
    Chain.remove(slot.inReady);
    Chain.remove(slot.inFlow);
    boolean ordered = slot.ordered;
    Flow flow = flow(slot);
    launched(slot, outlet, ticket);
    if (ordered) {
      advance(flow);
    }
  }

  void launched(Slot slot, Outlet outlet, long ticket) {
    slot.outlet = outlet;
    counters.add(Counters.RELEASED, 1);
    SendListener listener = slot.listener;
    if (listener != null) {
      due.add(listener::released);
    }
    if (outlet.hasTickets()) {
      if (listener != null && slot.sourceFree()) {
        due.add(() -> listener.sourceReusable(null));
      }
      if (slot.ordered) {
        Flow flow = flow(slot);
        flow.lastOutlet = outlet;
        flow.inFlight++;
      }
      slot.state(Slot.RELEASED);
      if (outlet.flights.isEmpty()) {
        flying.add(outlet.flights);
      }
      outlet.flights.add(ticket, slot);
    } else {
      counters.add(Counters.DELIVERED, 1);
      if (listener != null) {
        due.add(listener::delivered);
      }
      // The receiver may have returned it already.
      slot.move(Slot.RELEASING, Slot.DELIVERED);
    }
  }

  // ---- withdrawing

  void noticed(Slot slot) {
    if (slot.state() == Slot.RETURNED) {
      tellSource(slot, null);
      free(slot, false);
    } else {
      slot.code = Status.CANCELLED;
      counters.add(Counters.CANCELLED, 1);
      withdraw(slot);
    }
  }

  /** The send fails unless it was cancelled first; with it, what is ordered behind it. */
  void fail(Slot slot, int code, @Nullable Throwable cause) {
    slot.code = code;
    if (!slot.move(Slot.WAITING, Slot.FAILED) && !slot.move(Slot.RELEASING, Slot.FAILED)) {
      return;
    }
    slot.cause = cause;
    counters.add(Counters.FAILED, 1);
    Flow flow = flow(slot);
    if (slot.ordered && !closing) {
      Chain.Link behind = slot.inFlow.next();
      flow.failed(true);
      flushFrom(behind, cause);
    }
    withdraw(slot);
  }

  private void flush(Flow flow, @Nullable Throwable cause) {
    if (!closing) {
      flow.failed(true);
      flushFrom(flow.waiting.firstLink(), cause);
    }
  }

  private void flushFrom(Chain.@Nullable Link from, @Nullable Throwable cause) {
    for (Chain.Link link = from; link != null; ) {
      Chain.Link next = link.next();
      Slot slot = link.slot;
      slot.code = Status.FLUSHED;
      if (slot.move(Slot.WAITING, Slot.FAILED)) {
        slot.cause = cause;
        counters.add(Counters.FAILED, 1);
        withdraw(slot);
      }
      link = next;
    }
  }

  private void withdraw(Slot slot) {
    slot.withdrawn = true;
    slot.withdrawn();
    counters.add(Counters.WAITING, -1);
    Chain.remove(slot.inReady);
    Chain.remove(slot.inFlow);
    tellFailed(slot, false);
    if (slot.ordered) {
      advance(flow(slot));
    }
    if (slot.waiting == 0) {
      finish(slot, slot.deviceError);
    }
  }

  private void finish(Slot slot, @Nullable Throwable sourceUnsure) {
    if (!slot.sourceFree()) {
      tellSource(slot, sourceUnsure);
    }
    free(slot, true);
  }

  private void free(Slot slot, boolean failed) {
    if (failed) {
      slot.remember(slot.code);
    }
    slot.recycle();
    pool.free(slot);
  }

  boolean reset(Flow flow) {
    if (!flow.waiting.isEmpty() || flow.inFlight > 0) {
      return false;
    }
    flow.failed(false);
    flow.lastOutlet = null;
    return true;
  }

  // ---- the end

  /** Whether somebody has cancelled and not told yet. */
  boolean halfway() {
    for (int i = 0; i < pool.size(); i++) {
      Slot slot = pool.get(i);
      if (slot.state() == Slot.CANCELLED && !slot.withdrawn || slot.state() == Slot.RETURNED) {
        return true;
      }
    }
    return false;
  }

  void abandon() {
    closing = true;
    for (int i = 0; i < pool.size(); i++) {
      if (pool.get(i).state() == Slot.WAITING) {
        fail(pool.get(i), Status.CLOSED, null);
      }
    }
    lines.abandon(-ECANCELED);
    for (Flights flights : flying) {
      while (!flights.isEmpty()) {
        Slot slot = flights.pop();
        if (slot != null) {
          landed(slot, flights.outlet, Status.CLOSED);
        }
      }
    }
    flying.clear();
    while (!lent.isEmpty()) {
      finish(lent.remove(), closedEarly());
    }
    for (int i = 0; i < pool.size(); i++) {
      Slot slot = pool.get(i);
      if (slot.move(Slot.DELIVERED, Slot.RETURNED)) {
        tellSource(slot, closedEarly());
        free(slot, false);
      }
      slot.dispose();
    }
  }
}
