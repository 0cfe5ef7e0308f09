// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.List;

/** The axioms of the PTX memory model (PTX ISA 8.10), each as a question about an execution. */
final class Axioms {
  private Axioms() {}

  /** 8.10.4 No Thin Air: no cycle of reads-from and dependencies. */
  static boolean noThinAir(Candidate candidate, int[] readsFrom) {
    Relation order = candidate.dependency.copy();
    for (int r = 0; r < readsFrom.length; r++) {
      if (readsFrom[r] >= 0) {
        order.add(readsFrom[r], r);
      }
    }
    return order.acyclic();
  }

  /** 8.10.2 Fence-SC: Fence-SC order cannot contradict causality order. */
  static boolean fenceSc(Execution e, Relation fenceSc) {
    for (int i = 0; i < e.events().size(); i++) {
      if (e.events().get(i).fenceSc() && (e.base.has(i, i) || contradicts(e, fenceSc, i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean contradicts(Execution e, Relation fenceSc, int i) {
    for (int j = 0; j < e.events().size(); j++) {
      if (fenceSc.has(i, j) && e.base.has(j, i)) {
        return true;
      }
    }
    return false;
  }

  /**
   * 8.10.6 Causality, first part: a read that precedes an overlapping write in causality order
   * cannot read from it. Only a write precedes anything through observation order, so that base
   * causality order is all there is for a read; the two halves of an atomic operation are told
   * apart here, which is the weaker reading of the text.
   */
  static boolean causalityOfReads(Execution e) {
    for (int r = 0; r < e.readsFrom.length; r++) {
      if (e.readsFrom[r] >= 0 && e.base.has(r, e.readsFrom[r])) {
        return false;
      }
    }
    return true;
  }

  /**
   * 8.10.6 Causality, second part: if a write precedes an overlapping read in causality order, the
   * read cannot read from any write that precedes that write in coherence order.
   */
  static boolean causalityOfWrites(Execution e, int location, Relation coherence) {
    for (int r = 0; r < e.readsFrom.length; r++) {
      int source = e.readsFrom[r];
      if (source < 0 || e.events().get(r).location() != location) {
        continue;
      }
      for (long later = coherence.row(source); later != 0; later &= later - 1) {
        if (e.cause.has(Long.numberOfTrailingZeros(later), r)) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * 8.10.3 Atomicity: no write that is morally strong with an atomic operation comes, in coherence
   * order, between the write that the operation reads from and the operation.
   */
  static boolean atomicity(Execution e, int location, Relation coherence) {
    for (int a = 0; a < e.readsFrom.length; a++) {
      Event event = e.events().get(a);
      if (!event.atomic() || !event.writes() || event.location() != location) {
        continue;
      }
      for (long later = coherence.row(e.readsFrom[a]); later != 0; later &= later - 1) {
        int w = Long.numberOfTrailingZeros(later);
        if (w != a && coherence.has(w, a) && e.candidate.strong.has(w, a)) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * 8.10.5 Sequential Consistency Per Location: among overlapping operations that are pairwise
   * morally strong, communication order cannot contradict program order.
   */
  static boolean scPerLocation(Execution e, int location, Relation coherence) {
    List<Event> events = e.events();
    Relation step = new Relation(events.size());
    for (int i = 0; i < events.size(); i++) {
      if (!events.get(i).memory() || events.get(i).location() != location) {
        continue;
      }
      long communication = coherence.row(i);
      if (e.readsFrom[i] >= 0) {
        communication |= coherence.row(e.readsFrom[i]) & ~(1L << i);
      }
      for (int r = 0; r < events.size(); r++) {
        if (e.readsFrom[r] == i) {
          communication |= 1L << r;
        }
      }
      communication |= e.candidate.po.row(i) & e.candidate.sameLocation[i];
      step.addRow(i, communication & e.candidate.strong.row(i));
    }
    for (int i = 0; i < events.size(); i++) {
      if (cycle(e, step, i, i, 1L << i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether a path leads back to {@code start} through events that are all morally strong with each
   * other.
   */
  private static boolean cycle(Execution e, Relation step, int start, int at, long path) {
    if (step.has(at, start)) {
      return true;
    }
    for (long next = step.row(at) & ~path; next != 0; next &= next - 1) {
      int to = Long.numberOfTrailingZeros(next);
      // Each cycle is found from its smallest event.
      if (to > start
          && (path & ~e.candidate.strong.row(to)) == 0
          && cycle(e, step, start, to, path | 1L << to)) {
        return true;
      }
    }
    return false;
  }
}
