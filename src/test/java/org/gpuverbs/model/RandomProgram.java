// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A small random program without branches, and its outcomes under sequential consistency, found by
 * interleaving.
 */
record RandomProgram(List<Scope.Place> places, List<List<Op>> threads) {
  /**
   * What an operation does, and the register it fills. {@code order} and {@code scope} are the
   * model's business only.
   */
  record Op(Kind kind, String location, long value, Order order, Scope scope, String register) {
    String text() {
      String qualifiers = order == Order.WEAK ? ".weak" : "." + order.token() + "." + scope.token();
      return switch (kind) {
        case LOAD -> "ld" + qualifiers + " " + register + ", " + location;
        case STORE -> "st" + qualifiers + " " + location + ", " + value;
        case ADD -> "atom" + qualifiers + ".add " + register + ", " + location + ", " + value;
        case EXCH -> "atom" + qualifiers + ".exch " + register + ", " + location + ", " + value;
        case FENCE -> "fence" + qualifiers;
      };
    }
  }

  /** The kinds of operation that occur. */
  enum Kind {
    LOAD,
    STORE,
    ADD,
    EXCH,
    FENCE
  }

  static RandomProgram any(Random random) {
    int threads = 2 + random.nextInt(2);
    RandomProgram program = new RandomProgram(new ArrayList<>(), new ArrayList<>());
    for (int t = 0; t < threads; t++) {
      program.places.add(new Scope.Place(random.nextInt(2), random.nextInt(2)));
      List<Op> ops = new ArrayList<>();
      for (int i = 0; i < (threads == 2 ? 3 : 2); i++) {
        if (random.nextInt(4) == 0) {
          Order order =
              List.of(Order.ACQ_REL, Order.SC, Order.RELEASE, Order.ACQUIRE).get(random.nextInt(4));
          ops.add(new Op(Kind.FENCE, "", 0, order, scope(random), ""));
        }
        ops.add(access(random, i, t, random.nextBoolean()));
      }
      program.threads.add(ops);
    }
    return program;
  }

  /** Strong operations at system scope with a fence.sc between any two. */
  static RandomProgram fenced(Random random) {
    RandomProgram program = new RandomProgram(new ArrayList<>(), new ArrayList<>());
    int threads = 2 + random.nextInt(2);
    for (int t = 0; t < threads; t++) {
      program.places.add(new Scope.Place(random.nextInt(2), random.nextInt(2)));
      List<Op> ops = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        if (i > 0) {
          ops.add(new Op(Kind.FENCE, "", 0, Order.SC, Scope.SYS, ""));
        }
        Op op = access(random, i, t, false);
        ops.add(new Op(op.kind, op.location, op.value, Order.RELAXED, Scope.SYS, op.register));
      }
      program.threads.add(ops);
    }
    return program;
  }

  private static Op access(Random random, int position, int thread, boolean mayBeWeak) {
    Kind kind =
        List.of(Kind.LOAD, Kind.LOAD, Kind.STORE, Kind.STORE, Kind.ADD, Kind.EXCH)
            .get(random.nextInt(6));
    Order order =
        switch (kind) {
          case LOAD ->
              List.of(mayBeWeak ? Order.WEAK : Order.ACQUIRE, Order.RELAXED, Order.ACQUIRE)
                  .get(random.nextInt(3));
          case STORE ->
              List.of(mayBeWeak ? Order.WEAK : Order.RELEASE, Order.RELAXED, Order.RELEASE)
                  .get(random.nextInt(3));
          default ->
              List.of(Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL)
                  .get(random.nextInt(4));
        };
    return new Op(
        kind,
        random.nextBoolean() ? "x" : "y",
        kind == Kind.ADD ? 1 : 10L * (thread + 1) + position,
        order,
        scope(random),
        "r" + position);
  }

  private static Scope scope(Random random) {
    return Scope.values()[random.nextInt(3)];
  }

  /** The same with one operation made stronger: a wider scope, or more ordering. */
  RandomProgram strengthened(Random random) {
    List<List<Op>> copy = new ArrayList<>();
    threads.forEach(ops -> copy.add(new ArrayList<>(ops)));
    List<Op> ops = copy.get(random.nextInt(copy.size()));
    int at = random.nextInt(ops.size());
    Op op = ops.get(at);
    Scope wider = Scope.values()[Math.min(2, op.scope.ordinal() + 1)];
    Order more =
        switch (op.kind) {
          case LOAD -> op.order == Order.WEAK ? Order.RELAXED : Order.ACQUIRE;
          case STORE -> op.order == Order.WEAK ? Order.RELAXED : Order.RELEASE;
          case FENCE ->
              op.order == Order.ACQ_REL || op.order == Order.SC ? Order.SC : Order.ACQ_REL;
          default -> Order.ACQ_REL;
        };
    ops.set(
        at,
        random.nextBoolean()
            ? new Op(op.kind, op.location, op.value, op.order, wider, op.register)
            : new Op(op.kind, op.location, op.value, more, op.scope, op.register));
    return new RandomProgram(places, copy);
  }

  String litmus() {
    List<List<String>> columns = new ArrayList<>();
    for (int t = 0; t < threads.size(); t++) {
      List<String> column = new ArrayList<>();
      column.add("P" + t + "@cta " + places.get(t).cta() + ",gpu " + places.get(t).gpu());
      threads.get(t).forEach(op -> column.add(op.text()));
      columns.add(column);
    }
    return "PTX random\n{ x=0; y=0; }\n" + Table.format(columns) + "exists\n(x == 0)\n";
  }

  Set<String> outcomes() {
    return outcomes(LitmusParser.parse(litmus()), Checker.Search.EITHER);
  }

  static Set<String> outcomes(Program program, Checker.Search search) {
    Set<String> found = new TreeSet<>();
    Checker.visitAll(
        program,
        search,
        witness -> {
          Map<String, Long> state = new TreeMap<>(witness.memory());
          List<Trace> traces = witness.execution().candidate.traces;
          for (int t = 0; t < traces.size(); t++) {
            String thread = program.threads().get(t).name();
            traces.get(t).registers().forEach((r, v) -> state.put(thread + ":" + r, v));
          }
          found.add(state.toString());
          return false;
        });
    return found;
  }

  Set<String> interleavings() {
    Set<String> found = new TreeSet<>();
    interleave(new int[threads.size()], Map.of("x", 0L, "y", 0L), found);
    return found;
  }

  private void interleave(int[] next, Map<String, Long> state, Set<String> found) {
    boolean done = true;
    for (int t = 0; t < next.length; t++) {
      if (next[t] == threads.get(t).size()) {
        continue;
      }
      done = false;
      Op op = threads.get(t).get(next[t]);
      Map<String, Long> after = new HashMap<>(state);
      long old = after.getOrDefault(op.location, 0L);
      switch (op.kind) {
        case LOAD -> after.put("P" + t + ":" + op.register, old);
        case STORE -> after.put(op.location, op.value);
        case ADD -> {
          after.put("P" + t + ":" + op.register, old);
          after.put(op.location, old + op.value);
        }
        case EXCH -> {
          after.put("P" + t + ":" + op.register, old);
          after.put(op.location, op.value);
        }
        case FENCE -> {}
      }
      next[t]++;
      interleave(next, after, found);
      next[t]--;
    }
    if (done) {
      found.add(new TreeMap<>(state).toString());
    }
  }
}
