// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Enumerates each thread's paths. A read may return any value that somebody could have written to
 * the location; which write it was, and whether the model allows it, is decided later.
 */
final class TraceEnumerator {
  private static final int MAX_TRACES = 2_000_000;

  private final Program program;
  private final List<String> locations;

  /**
   * By location: each value that may be read, and how many writes to that location it takes at
   * least.
   */
  private final List<Map<Long, Integer>> values = new ArrayList<>();

  /** By location: how many writes one execution performs at most. */
  private final int[] writes;

  private boolean cut;
  private boolean learned;

  TraceEnumerator(Program program, List<String> locations) {
    this.program = program;
    this.locations = locations;
    this.writes = new int[locations.size()];
    for (String location : locations) {
      values.add(new TreeMap<>(Map.of(program.memory().getOrDefault(location, 0L), 0)));
    }
    program.threads().forEach(code -> countWrites(code.steps()));
  }

  private void countWrites(List<Program.Step> steps) {
    for (int pc = 0; pc < steps.size(); pc++) {
      String location =
          switch (steps.get(pc).instruction()) {
            case Instruction.Store store -> store.location();
            case Instruction.Atom atom -> atom.location();
            default -> null;
          };
      if (location != null) {
        writes[locations.indexOf(location)] += repetitions(steps, pc);
      }
    }
  }

  private int repetitions(List<Program.Step> steps, int pc) {
    int times = 1;
    for (int branch = pc; branch < steps.size(); branch++) {
      if (steps.get(branch).instruction() instanceof Instruction.Branch b
          && Program.target(steps, b.label()) <= pc) {
        times *= 1 + program.unroll();
      }
    }
    return times;
  }

  /**
   * Whether some path was dropped because it took a backward branch more often than the program's
   * bound.
   */
  boolean cut() {
    return cut;
  }

  List<List<Trace>> enumerate() {
    // Without values out of thin air each value comes from a chain of writes, so that as many
    // rounds as there are writes find
    // every value.
    int rounds = IntStream.of(writes).sum() + 1;
    while (true) {
      List<List<Trace>> traces = new ArrayList<>();
      cut = false;
      learned = false;
      for (int t = 0; t < program.threads().size(); t++) {
        List<Trace> found = new ArrayList<>();
        walk(ThreadRun.start(program, locations, t), found);
        traces.add(found);
      }
      if (!learned || --rounds < 0) {
        return traces;
      }
    }
  }

  /**
   * Takes note of the values that a run writes, complete or not. A value that needs more writes
   * than there are is not reachable.
   */
  private void learn(ThreadRun run) {
    for (Event event : run.events()) {
      if (event.writes()) {
        Map<Long, Integer> known = values.get(event.location());
        int depth = 1 + (event.reads() ? known.get(event.read()) : 0);
        Integer before = known.get(event.written());
        if (depth <= writes[event.location()] && (before == null || depth < before)) {
          known.put(event.written(), depth);
          learned = true;
        }
      }
    }
  }

  private void walk(ThreadRun run, List<Trace> found) {
    learn(run);
    switch (run.state()) {
      case CUT -> cut = true;
      case DONE -> {
        if (found.size() >= MAX_TRACES) {
          throw new IllegalStateException("too many paths");
        }
        found.add(run.trace());
      }
      case READING -> {
        for (long value : List.copyOf(values.get(run.location()).keySet())) {
          walk(run.resolve(value), found);
        }
      }
    }
  }
}
