// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Prints an allowed execution step by step: who read what from whom, what synchronized, what did
 * not and why.
 */
final class Explainer {
  private final Checker.Witness witness;
  private final Execution execution;
  private final Candidate candidate;
  private final List<Integer> order;
  private final StringBuilder out = new StringBuilder();

  private Explainer(Checker.Witness witness) {
    this.witness = witness;
    this.execution = witness.execution();
    this.candidate = execution.candidate;
    this.order = linearOrder();
  }

  static String explain(Checker.Witness witness) {
    return new Explainer(witness).text();
  }

  private String text() {
    steps();
    links();
    coherence();
    staleReads();
    unorderedWrites();
    finalState();
    return out.toString();
  }

  private void line(String format, Object... args) {
    out.append("  ").append(String.format(format, args).stripTrailing()).append('\n');
  }

  private Event event(int i) {
    return candidate.events.get(i);
  }

  private String name(int i) {
    return candidate.label(i);
  }

  private void steps() {
    out.append("steps\n");
    int number = 1;
    for (int i : order) {
      Event e = event(i);
      if (e.thread() >= 0) {
        line("%2d  %-5s %-38s %s", number++, name(i), e.text(), effect(i));
      }
    }
  }

  private String effect(int i) {
    Event e = event(i);
    String effect = "";
    if (e.reads()) {
      effect = "reads " + e.read() + " from " + name(execution.readsFrom[i]);
    }
    if (e.atomic() && e.writes()) {
      effect += ", writes " + e.written();
    }
    return effect;
  }

  /**
   * An order that respects causality and reads-from, one thread as long as possible at a time; else
   * program order.
   */
  private List<Integer> linearOrder() {
    Relation before = execution.base.copy();
    for (int r = 0; r < execution.readsFrom.length; r++) {
      if (execution.readsFrom[r] >= 0) {
        before.add(execution.readsFrom[r], r);
      }
    }
    List<Integer> found = new ArrayList<>();
    long left = before.size() == 64 ? -1L : (1L << before.size()) - 1;
    int thread = Event.INITIAL;
    while (left != 0) {
      int pick = -1;
      for (long rest = left; rest != 0; rest &= rest - 1) {
        int i = Long.numberOfTrailingZeros(rest);
        if (ready(before, left, i) && (pick < 0 || event(i).thread() == thread)) {
          pick = i;
          if (event(i).thread() == thread) {
            break;
          }
        }
      }
      pick = pick < 0 ? Long.numberOfTrailingZeros(left) : pick;
      thread = event(pick).thread();
      found.add(pick);
      left &= ~(1L << pick);
    }
    return found;
  }

  private static boolean ready(Relation before, long left, int i) {
    for (long rest = left & ~(1L << i); rest != 0; rest &= rest - 1) {
      if (before.has(Long.numberOfTrailingZeros(rest), i)) {
        return false;
      }
    }
    return true;
  }

  private void links() {
    out.append("links between threads\n");
    for (int r = 0; r < execution.readsFrom.length; r++) {
      int w = execution.readsFrom[r];
      if (w >= 0 && event(w).thread() >= 0 && event(w).thread() != event(r).thread()) {
        line("%s reads from %s: %s", name(r), name(w), link(w, r));
      }
    }
    for (int f = 0; f < candidate.events.size(); f++) {
      for (long to = execution.synchronizes.row(f); to != 0; to &= to - 1) {
        int g = Long.numberOfTrailingZeros(to);
        if (event(f).fenceSc() && event(g).fenceSc()) {
          line("%s precedes %s in Fence-SC order", name(f), name(g));
        }
      }
    }
  }

  private String link(int w, int r) {
    if (!candidate.strong.has(w, r)) {
      return "not morally strong, so not even observed: "
          + (event(w).strong() && event(r).strong() ? scopeGap(w, r) : "a weak operation is in it");
    }
    long heads = 0;
    for (int x = 0; x < candidate.events.size(); x++) {
      if (x == w || (execution.observation.has(x, r) && execution.observation.has(x, w))) {
        heads |= candidate.releaseHeads[x];
      }
    }
    long tails = candidate.acquireTails[r];
    List<String> synced = new ArrayList<>();
    String gap = "";
    for (long h = heads; h != 0; h &= h - 1) {
      int head = Long.numberOfTrailingZeros(h);
      for (long t = tails; t != 0; t &= t - 1) {
        int tail = Long.numberOfTrailingZeros(t);
        if (execution.synchronizes.has(head, tail)) {
          synced.add(name(head) + " with " + name(tail));
        } else if (event(head).thread() != event(tail).thread()) {
          gap = scopeGap(head, tail);
        }
      }
    }
    if (!synced.isEmpty()) {
      return "synchronizes " + String.join(", ", synced);
    }
    if (heads == 0) {
      return "observed, but no release at or before " + name(w);
    }
    return tails == 0
        ? "observed, but no acquire at or after " + name(r)
        : "observed, but release and acquire are not morally strong: " + gap;
  }

  private String scopeGap(int a, int b) {
    List<String> gaps = new ArrayList<>();
    for (int[] pair : new int[][] {{a, b}, {b, a}}) {
      Event e = event(pair[0]);
      Program.Code self = candidate.program.threads().get(e.thread());
      Program.Code other = candidate.program.threads().get(event(pair[1]).thread());
      if (!e.scope().includes(self.place(), other.place())) {
        gaps.add(name(pair[0]) + "'s ." + e.scope().token() + " leaves out " + other.name());
      }
    }
    return String.join(", ", gaps);
  }

  private void coherence() {
    out.append("coherence order of locations written more than once\n");
    new TreeMap<>(witness.coherence())
        .forEach(
            (location, coherence) -> {
              List<Integer> writes = new ArrayList<>();
              for (int i = 0; i < candidate.events.size(); i++) {
                if (event(i).writes()
                    && candidate.locations.get(event(i).location()).equals(location)) {
                  writes.add(i);
                }
              }
              writes.sort(
                  (x, y) -> Long.bitCount(coherence.row(y)) - Long.bitCount(coherence.row(x)));
              if (writes.size() > 2) {
                line(
                    "%s: %s",
                    location,
                    writes.stream()
                        .map(i -> name(i) + " (" + event(i).written() + ")")
                        .collect(Collectors.joining(", ")));
              }
            });
  }

  private void staleReads() {
    boolean titled = false;
    for (int r = 0; r < execution.readsFrom.length; r++) {
      if (execution.readsFrom[r] < 0) {
        continue;
      }
      Relation coherence = witness.coherence().get(candidate.locations.get(event(r).location()));
      for (long later = coherence.row(execution.readsFrom[r]); later != 0; later &= later - 1) {
        int w = Long.numberOfTrailingZeros(later);
        // Only what was written before, in the order above, can be said to be missed.
        if (event(w).thread() == event(r).thread() || order.indexOf(w) > order.indexOf(r)) {
          continue;
        }
        if (!titled) {
          out.append("reads that may miss a write\n");
          titled = true;
        }
        line(
            "%s reads %d although %s writes %d: no causality from %s to %s; it reaches %s",
            name(r), event(r).read(), name(w), event(w).written(), name(w), name(r), reached(w));
      }
    }
  }

  /**
   * The first operation of each other thread that comes after {@code w} in base causality order.
   */
  private String reached(int w) {
    Map<Integer, Integer> first = new TreeMap<>();
    for (long after = execution.base.row(w); after != 0; after &= after - 1) {
      int i = Long.numberOfTrailingZeros(after);
      if (event(i).thread() != event(w).thread()) {
        first.putIfAbsent(event(i).thread(), i);
      }
    }
    return first.isEmpty()
        ? "no other thread"
        : first.values().stream().map(this::name).collect(Collectors.joining(", "));
  }

  private void unorderedWrites() {
    boolean titled = false;
    for (int a = 0; a < candidate.events.size(); a++) {
      for (int b = a + 1; b < candidate.events.size(); b++) {
        if (event(a).thread() >= 0
            && event(a).writes()
            && event(b).writes()
            && event(a).thread() != event(b).thread()
            && (candidate.sameLocation[a] >>> b & 1) != 0
            && !execution.cause.has(a, b)
            && !execution.cause.has(b, a)) {
          if (!titled) {
            out.append("writes that nothing orders\n");
            titled = true;
          }
          line(
              "%s and %s write %s: no causality either way, coherence may take either order",
              name(a), name(b), candidate.locations.get(event(a).location()));
        }
      }
    }
  }

  private void finalState() {
    out.append("final state\n");
    List<String> registers = new ArrayList<>();
    for (int t = 0; t < candidate.traces.size(); t++) {
      String thread = candidate.program.threads().get(t).name();
      new TreeMap<>(candidate.traces.get(t).registers())
          .forEach((register, value) -> registers.add(thread + ":" + register + "=" + value));
    }
    line("%s", String.join(" ", registers));
    line(
        "%s",
        new TreeMap<>(witness.memory())
            .entrySet().stream().map(Object::toString).collect(Collectors.joining(" ")));
  }
}
