// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Finds the coherence orders of one location that the axioms allow (PTX ISA 8.9.6). Two writes are
 * related if they are morally strong or related in causality order, and unrelated if they race; an
 * execution is allowed if the smallest such orders are, because a larger order only forbids more.
 * Locations do not constrain each other here.
 */
final class CoherenceSearch {
  private CoherenceSearch() {}

  /**
   * For each value that the location may end with, a coherence order that leads to it; empty: not
   * allowed.
   */
  static Map<Long, Relation> finals(Execution e, int location) {
    Map<Long, Relation> found = new TreeMap<>();
    any(
        e,
        location,
        coherence -> {
          for (int w = 0; w < e.events().size(); w++) {
            Event event = e.events().get(w);
            if (event.writes() && event.location() == location && coherence.row(w) == 0) {
              found.putIfAbsent(event.written(), coherence);
            }
          }
          return false;
        });
    return found;
  }

  /** Whether there is a coherence order at all. */
  static boolean exists(Execution e, int location) {
    return any(e, location, coherence -> true);
  }

  private static boolean any(Execution e, int location, Predicate<Relation> visitor) {
    List<Integer> writes = new ArrayList<>();
    for (int i = 0; i < e.events().size(); i++) {
      if (e.events().get(i).writes() && e.events().get(i).location() == location) {
        writes.add(i);
      }
    }
    Relation forced = new Relation(e.events().size());
    List<int[]> free = new ArrayList<>();
    for (int a : writes) {
      for (int b : writes) {
        // 8.10.1 Coherence: a write that precedes another in causality order precedes it in
        // coherence order.
        if (e.cause.has(a, b)) {
          forced.add(a, b);
        }
        if (a < b && e.candidate.strong.has(a, b)) {
          free.add(new int[] {a, b});
        }
      }
    }
    Relation order = forced.closure();
    return order.irreflexive()
        && Orientations.any(
            order,
            free,
            coherence ->
                Axioms.causalityOfWrites(e, location, coherence)
                    && Axioms.atomicity(e, location, coherence)
                    && Axioms.scPerLocation(e, location, coherence)
                    && visitor.test(coherence));
  }
}
