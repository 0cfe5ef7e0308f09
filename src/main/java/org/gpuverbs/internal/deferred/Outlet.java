// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import org.jspecify.annotations.Nullable;

/** Where sends are released to: a queue pair, or an inbox in this JVM. For the lock's holder. */
public abstract class Outlet {
  /** There is no room at present, or the way is not known yet: the send stays first in its line. */
  public static final long RETRY = Long.MIN_VALUE;

  /** Not complete yet. */
  public static final int PENDING = -6;

  final Flights flights = new Flights(this);

  /** Nothing in flight. */
  protected Outlet() {}

  /**
   * Hands the send on, all of it or nothing; never waits.
   *
   * @return a ticket of 0 or more, {@link #RETRY}, or a status that says why it can't be sent
   */
  protected abstract long release(Slot slot);

  /**
   * What became of a ticket.
   *
   * @return 0 done, {@link #PENDING}, or a status or syndrome
   */
  protected abstract long poll(long ticket);

  /**
   * Whether release is not yet delivery: tickets are polled then, in their order. Otherwise a
   * released send is delivered, and {@link DeferredQueue#sourceReturned} ends it.
   */
  protected boolean hasTickets() {
    return true;
  }

  /** What is behind a result of {@link #poll} that is an error. */
  protected @Nullable Throwable why(int result) {
    return null;
  }

  /** Whether nobody reads the slot's memory any more, after its ticket failed. */
  protected boolean letGo(Slot slot) {
    return true;
  }

  /** Whether nothing is in flight. */
  public boolean isIdle() {
    return flights.isEmpty();
  }
}
