// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Decides whether a final state that satisfies a condition is allowed: enumerates paths, then
 * reads-from, then Fence-SC order, then coherence order, and asks the axioms as soon as they can
 * answer.
 */
final class Checker implements GraphExplorer.Visitor {
  /** An allowed execution: coherence order by location, and the values that memory ends with. */
  record Witness(Execution execution, Map<String, Relation> coherence, Map<String, Long> memory) {}

  /**
   * @param pass whether the program's question was answered as it should be
   * @param witness the execution that decides it: the violation of a {@code ~exists} or {@code
   *     forall}, or the instance of an {@code exists}; null if there is none
   * @param candidates choices of paths and reads-from that were looked at
   * @param cut whether paths were left out because of the bound on backward branches
   */
  record Verdict(Program program, boolean pass, Witness witness, long candidates, boolean cut) {}

  private final Program program;
  private final Condition wanted;
  private final List<String> locations;
  private final List<Integer> order;
  private final Predicate<Witness> visitor;
  private long candidates;
  private List<List<Trace>> traces;
  private Supply supply;

  private Checker(Program program, Condition wanted, Predicate<Witness> visitor) {
    this.program = program;
    this.wanted = wanted;
    this.locations = List.copyOf(program.locations());
    this.visitor = visitor;
    // Threads whose registers the condition names are chosen first: they rule most choices out.
    String text = wanted.toString();
    this.order =
        IntStream.range(0, program.threads().size())
            .boxed()
            .sorted(
                Comparator.comparing(
                    t -> text.contains(program.threads().get(t).name() + ":") ? 0 : 1))
            .toList();
  }

  static Verdict check(Program program) {
    Condition wanted =
        program.quantifier() == Program.Quantifier.ALWAYS
            ? new Condition.Not(program.condition())
            : program.condition();
    Witness[] found = new Witness[1];
    Checker checker =
        new Checker(
            program,
            wanted,
            witness -> {
              found[0] = witness;
              return true;
            });
    boolean cut = checker.run(Search.EITHER);
    boolean pass = (found[0] != null) == (program.quantifier() == Program.Quantifier.SOMETIMES);
    return new Verdict(program, pass, found[0], checker.candidates, cut);
  }

  /**
   * How executions are found: read by read, or by guessing values; the first is quicker and not
   * always complete.
   */
  enum Search {
    EITHER,
    BUILD,
    GUESS
  }

  /**
   * Shows {@code visitor} every allowed execution, each with one final memory, until it returns
   * true.
   */
  static void visitAll(Program program, Search search, Predicate<Witness> visitor) {
    new Checker(program, new Condition.All(List.of()), visitor).run(search);
  }

  /**
   * @return whether paths were cut
   */
  private boolean run(Search search) {
    if (search == Search.GUESS || (search == Search.EITHER && LoadBuffering.possible(program))) {
      return guess();
    }
    GraphExplorer explorer = new GraphExplorer(program, locations, this);
    explorer.explore();
    return explorer.cut();
  }

  @Override
  public boolean promising(List<ThreadRun> runs, Candidate candidate, int[] readsFrom) {
    Condition.State known =
        term -> register(term, (t, register) -> runs.get(t).finalValue(register));
    if (Boolean.FALSE.equals(wanted.evaluate(known))) {
      return false;
    }
    Execution execution = new Execution(candidate, readsFrom, new Relation(readsFrom.length));
    if (!Axioms.causalityOfReads(execution)) {
      return false;
    }
    for (int location = 0; location < locations.size(); location++) {
      if (!CoherenceSearch.exists(execution, location)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean complete(Candidate candidate, int[] readsFrom) {
    return orderFences(candidate, readsFrom);
  }

  private boolean guess() {
    TraceEnumerator enumerator = new TraceEnumerator(program, locations);
    traces = enumerator.enumerate();
    supply = new Supply(program, locations, traces);
    choosePaths(0, new Trace[traces.size()]);
    return enumerator.cut();
  }

  private boolean choosePaths(int depth, Trace[] chosen) {
    if (Boolean.FALSE.equals(
            wanted.evaluate(term -> register(term, (t, register) -> chosen(chosen[t], register))))
        || !supply.suffices(chosen)) {
      return false;
    }
    if (depth == chosen.length) {
      Candidate candidate = new Candidate(program, locations, List.of(chosen));
      int[] readsFrom = new int[candidate.events.size()];
      java.util.Arrays.fill(readsFrom, -1);
      return chooseSources(candidate, readsFrom, 0);
    }
    int thread = order.get(depth);
    for (Trace trace : traces.get(thread)) {
      chosen[thread] = trace;
      if (choosePaths(depth + 1, chosen)) {
        return true;
      }
    }
    chosen[thread] = null;
    return false;
  }

  private static Long chosen(Trace trace, String register) {
    return trace == null ? null : (Long) trace.registers().getOrDefault(register, 0L);
  }

  /** The value of a term of a condition, by thread and register; null for a memory location. */
  private Long register(String term, BiFunction<Integer, String, Long> values) {
    int colon = term.indexOf(':');
    if (colon < 0) {
      return null;
    }
    for (int t = 0; t < program.threads().size(); t++) {
      if (program.threads().get(t).name().equals(term.substring(0, colon))) {
        return values.apply(t, term.substring(colon + 1));
      }
    }
    throw new IllegalArgumentException("no thread for " + term);
  }

  private boolean chooseSources(Candidate candidate, int[] readsFrom, int next) {
    int r = next;
    while (r < readsFrom.length && !candidate.events.get(r).reads()) {
      r++;
    }
    if (r == readsFrom.length) {
      return orderFences(candidate, readsFrom);
    }
    Event read = candidate.events.get(r);
    for (int w = 0; w < readsFrom.length; w++) {
      Event write = candidate.events.get(w);
      if (w != r
          && write.writes()
          && write.location() == read.location()
          && write.written() == read.read()
          && !candidate.po.has(r, w)
          && !stolen(candidate, readsFrom, r, w)) {
        readsFrom[r] = w;
        if (chooseSources(candidate, readsFrom, r + 1)) {
          return true;
        }
      }
    }
    readsFrom[r] = -1;
    return false;
  }

  /**
   * Two atomic operations that are morally strong with each other and with the write cannot both
   * read from it: the later one would have the earlier one between (8.10.3).
   */
  private boolean stolen(Candidate candidate, int[] readsFrom, int r, int w) {
    if (!candidate.events.get(r).atomic() || !candidate.events.get(r).writes()) {
      return false;
    }
    boolean initial = candidate.events.get(w).thread() == Event.INITIAL;
    for (int other = 0; other < r; other++) {
      if (readsFrom[other] == w
          && candidate.events.get(other).atomic()
          && candidate.events.get(other).writes()
          && candidate.strong.has(other, r)
          && (initial || (candidate.strong.has(w, r) && candidate.strong.has(w, other)))) {
        return true;
      }
    }
    return false;
  }

  private boolean orderFences(Candidate candidate, int[] readsFrom) {
    candidates++;
    if (!Axioms.noThinAir(candidate, readsFrom)) {
      return false;
    }
    Relation none = new Relation(readsFrom.length);
    Execution execution = new Execution(candidate, readsFrom, none);
    if (!Axioms.causalityOfReads(execution)) {
      return false;
    }
    Relation forced = new Relation(readsFrom.length);
    List<int[]> pairs = new ArrayList<>();
    for (int a = 0; a < readsFrom.length; a++) {
      for (int b = 0; b < readsFrom.length; b++) {
        if (candidate.events.get(a).fenceSc()
            && candidate.events.get(b).fenceSc()
            && candidate.strong.has(a, b)) {
          if (execution.base.has(a, b)) {
            forced.add(a, b);
          }
          if (a < b) {
            pairs.add(new int[] {a, b});
          }
        }
      }
    }
    if (pairs.isEmpty()) {
      return chooseCoherence(execution);
    }
    Relation start = forced.closure();
    return start.irreflexive()
        && Orientations.any(
            start,
            pairs,
            fenceSc -> {
              Execution ordered = new Execution(candidate, readsFrom, fenceSc);
              return Axioms.fenceSc(ordered, fenceSc)
                  && Axioms.causalityOfReads(ordered)
                  && chooseCoherence(ordered);
            });
  }

  private boolean chooseCoherence(Execution execution) {
    List<Map<Long, Relation>> finals = new ArrayList<>();
    for (int location = 0; location < locations.size(); location++) {
      Map<Long, Relation> found = CoherenceSearch.finals(execution, location);
      if (found.isEmpty()) {
        return false;
      }
      finals.add(found);
    }
    return chooseFinals(execution, finals, 0, new HashMap<>(), new HashMap<>());
  }

  private boolean chooseFinals(
      Execution execution,
      List<Map<Long, Relation>> finals,
      int location,
      Map<String, Relation> coherence,
      Map<String, Long> memory) {
    List<Trace> traces = execution.candidate.traces;
    Boolean holds =
        wanted.evaluate(
            term ->
                term.indexOf(':') < 0
                    ? memory.get(term)
                    : register(term, (t, register) -> chosen(traces.get(t), register)));
    if (Boolean.FALSE.equals(holds)) {
      return false;
    }
    if (location == finals.size()) {
      return visitor.test(new Witness(execution, Map.copyOf(coherence), Map.copyOf(memory)));
    }
    String name = locations.get(location);
    for (Map.Entry<Long, Relation> end : finals.get(location).entrySet()) {
      memory.put(name, end.getKey());
      coherence.put(name, end.getValue());
      if (chooseFinals(execution, finals, location + 1, coherence, memory)) {
        return true;
      }
    }
    memory.remove(name);
    return false;
  }
}
