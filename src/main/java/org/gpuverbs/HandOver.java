// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** How a submitter passes the right to publish on to its successor. */
public enum HandOver {
  /** A compare-and-swap chain on the ready head; the doorbell is rung under a lock. */
  CLASSIC(0),
  /**
   * The ready head is the lock, passed on by one compare-and-swap; the doorbell is rung inside the
   * turn.
   */
  TURN(1),
  /** As {@link #TURN}, passed on by load-acquire and store-release: no atomic read-modify-write. */
  TURN_LOAD_STORE(2),
  /** No chain: one ready bit a slot; the winner scans and rings for everybody. Not wait-free. */
  BITMAP(3),
  /** One submitter by contract, {@link SubmitPolicy#EXCLUSIVE}: no atomics at all. */
  EXCLUSIVE(4),
  /**
   * Unsound: {@link #CLASSIC} that rings without the lock, and so loses doorbells. For tests and
   * measurement.
   */
  CLASSIC_WITHOUT_LOCK(5),
  /**
   * Unsound from three submitters on: {@link #TURN} with relaxed load and store. For tests and
   * measurement.
   */
  TURN_RELAXED(6);

  private final int code;

  HandOver(int code) {
    this.code = code;
  }

  /** GV_HANDOVER_* of native/include/gpuverbs/queue.h. */
  int code() {
    return code;
  }

  boolean sound() {
    return this != CLASSIC_WITHOUT_LOCK && this != TURN_RELAXED;
  }
}
