// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

/**
 * A binary relation over at most 64 events, one 64-bit row an event: bit j of row i says that i is
 * related to j.
 */
final class Relation {
  static final int MAX = 64;

  private final long[] rows;

  Relation(int size) {
    if (size > MAX) {
      throw new IllegalArgumentException(size + " events; at most " + MAX + " are supported");
    }
    rows = new long[size];
  }

  private Relation(long[] rows) {
    this.rows = rows;
  }

  int size() {
    return rows.length;
  }

  void add(int from, int to) {
    rows[from] |= 1L << to;
  }

  boolean has(int from, int to) {
    return (rows[from] >>> to & 1) != 0;
  }

  /** The events that {@code from} is related to, as a set of bits. */
  long row(int from) {
    return rows[from];
  }

  void addRow(int from, long events) {
    rows[from] |= events;
  }

  Relation copy() {
    return new Relation(rows.clone());
  }

  Relation union(Relation other) {
    Relation result = copy();
    for (int i = 0; i < rows.length; i++) {
      result.rows[i] |= other.rows[i];
    }
    return result;
  }

  /** The transitive closure (Warshall). */
  Relation closure() {
    Relation result = copy();
    long[] r = result.rows;
    for (int k = 0; k < r.length; k++) {
      long through = r[k];
      for (int i = 0; i < r.length; i++) {
        if ((r[i] >>> k & 1) != 0) {
          r[i] |= through;
        }
      }
    }
    return result;
  }

  /** Adds (from, to) to a relation that is its own closure, and closes it again. */
  void addClosed(int from, int to) {
    long reached = rows[to] | 1L << to;
    for (int i = 0; i < rows.length; i++) {
      if (i == from || has(i, from)) {
        rows[i] |= reached;
      }
    }
  }

  boolean irreflexive() {
    for (int i = 0; i < rows.length; i++) {
      if (has(i, i)) {
        return false;
      }
    }
    return true;
  }

  boolean acyclic() {
    return closure().irreflexive();
  }
}
