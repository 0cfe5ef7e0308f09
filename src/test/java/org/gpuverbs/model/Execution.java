// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.List;

/**
 * A candidate with a choice of who reads from whom and of the Fence-SC order: everything that
 * causality order follows from (PTX ISA 8.9). Coherence order is chosen afterwards, location by
 * location ({@link CoherenceSearch}).
 */
final class Execution {
  final Candidate candidate;

  /** For each event that reads, the write it reads from; -1 for the others. */
  final int[] readsFrom;

  /** W to R: through an optional sequence of atomic operations (8.9.2). */
  final Relation observation;

  /** X to Y: X synchronizes with Y (8.9.4). */
  final Relation synchronizes;

  /** Base causality order (8.9.5). */
  final Relation base;

  /** Causality order from a write to other operations on its location (8.9.5, generic proxy). */
  final Relation cause;

  Execution(Candidate candidate, int[] readsFrom, Relation fenceSc) {
    this.candidate = candidate;
    this.readsFrom = readsFrom.clone();
    this.observation = observation();
    this.synchronizes = patternsSynchronize().union(fenceSc);
    this.base = candidate.po.union(synchronizes).closure();
    this.cause = causality();
  }

  List<Event> events() {
    return candidate.events;
  }

  private Relation observation() {
    Relation direct = new Relation(readsFrom.length);
    for (int r = 0; r < readsFrom.length; r++) {
      if (readsFrom[r] >= 0 && candidate.strong.has(readsFrom[r], r)) {
        direct.add(readsFrom[r], r);
      }
    }
    // Only an atomic operation is both target and source of this relation, so that closing it
    // follows chains of them.
    return direct.closure();
  }

  private Relation patternsSynchronize() {
    Relation result = new Relation(readsFrom.length);
    for (int w = 0; w < readsFrom.length; w++) {
      for (long reads = observation.row(w); reads != 0; reads &= reads - 1) {
        long tails = candidate.acquireTails[Long.numberOfTrailingZeros(reads)];
        for (long heads = candidate.releaseHeads[w]; heads != 0; heads &= heads - 1) {
          int head = Long.numberOfTrailingZeros(heads);
          result.addRow(head, tails & candidate.strong.row(head) & ~sameThread(head));
        }
      }
    }
    return result;
  }

  private long sameThread(int event) {
    long same = 0;
    for (int i = 0; i < readsFrom.length; i++) {
      if (events().get(i).thread() == events().get(event).thread()) {
        same |= 1L << i;
      }
    }
    return same;
  }

  private Relation causality() {
    Relation result = new Relation(readsFrom.length);
    for (int x = 0; x < readsFrom.length; x++) {
      if (events().get(x).writes()) {
        long reached = base.row(x);
        for (long seen = observation.row(x); seen != 0; seen &= seen - 1) {
          int z = Long.numberOfTrailingZeros(seen);
          reached |= base.row(z);
          if (events().get(z).writes()) {
            // An atomic operation's read comes before its write.
            reached |= 1L << z;
          }
        }
        result.addRow(x, reached & candidate.sameLocation[x]);
      }
    }
    return result;
  }
}
