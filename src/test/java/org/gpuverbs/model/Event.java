// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

/**
 * One operation that an execution performs: a memory operation or a fence. An atomic operation is a
 * single event that reads and, if it results in a write, writes (PTX ISA 8.4).
 *
 * @param thread the index of the thread, or {@link #INITIAL} for the hypothetical write that
 *     initialises a location (8.2.6)
 * @param location the index of the location; -1 for a fence
 * @param read the value read, if {@code reads}
 * @param written the value written, if {@code writes}
 * @param dependsOn earlier events of the same thread on whose values this one depends, as bits of
 *     their index in the thread
 */
record Event(
    int thread,
    Kind kind,
    int location,
    Order order,
    Scope scope,
    boolean reads,
    boolean writes,
    long read,
    long written,
    long dependsOn,
    String text) {
  static final int INITIAL = -1;

  /** What performed it. */
  enum Kind {
    INIT,
    LOAD,
    STORE,
    ATOM,
    RED,
    FENCE
  }

  static Event initial(int location, long value, String text) {
    return new Event(
        INITIAL, Kind.INIT, location, Order.WEAK, Scope.SYS, false, true, 0, value, 0, text);
  }

  boolean memory() {
    return kind != Kind.FENCE;
  }

  boolean atomic() {
    return kind == Kind.ATOM || kind == Kind.RED;
  }

  boolean strong() {
    return kind != Kind.INIT && order != Order.WEAK;
  }

  boolean fenceSc() {
    return kind == Kind.FENCE && order == Order.SC;
  }

  /**
   * A read that can be part of an acquire pattern: "the strong read of a reduction does not" (8.8).
   */
  boolean strongRead() {
    return reads && strong() && kind != Kind.RED;
  }

  boolean strongWrite() {
    return writes && strong();
  }
}
