// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tells whether a program may have an execution in which program order and reads-from form a cycle
 * although reads-from and dependencies do not (no-thin-air). Such a cycle enters a thread at a read
 * of some location and leaves it at a later write to another one, each time, and at least once that
 * write does not depend on the read. Where there is no such cycle among locations, an execution can
 * be built read by read ({@link GraphExplorer}). Looks at all paths, feasible or not.
 */
final class LoadBuffering {
  /**
   * From the location read to the location written later by the same thread, whether the write
   * depends on it or not.
   */
  private final Relation flows;

  /** The part of {@link #flows} in which the write does not depend on the read. */
  private final Relation independent;

  private final List<String> locations;

  private LoadBuffering(Program program) {
    this.locations = List.copyOf(program.locations());
    this.flows = new Relation(locations.size());
    this.independent = new Relation(locations.size());
  }

  static boolean possible(Program program) {
    LoadBuffering analysis = new LoadBuffering(program);
    for (Program.Code code : program.threads()) {
      analysis.walk(code.steps());
    }
    Relation reached = analysis.flows.closure();
    for (int from = 0; from < reached.size(); from++) {
      for (int to = 0; to < reached.size(); to++) {
        if (analysis.independent.has(from, to) && (from == to || reached.has(to, from))) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * What is known at a place in the code; reads are numbered by instruction, as bits.
   *
   * @param read the reads that were executed
   * @param open those that no branch so far depends on
   * @param lost those that were executed again while open: nothing will ever depend on the earlier
   *     execution
   * @param taints for each register the reads that its value was computed from
   */
  private record State(int pc, long read, long open, long lost, Map<String, Long> taints) {
    State at(int next) {
      return new State(next, read, open, lost, taints);
    }

    State reading(int number, String register) {
      long bit = 1L << number;
      return new State(pc + 1, read | bit, open | bit, lost | (open & bit), with(register, bit));
    }

    State setting(String register, long taint) {
      return new State(pc + 1, read, open, lost, with(register, taint));
    }

    State branching(long depends) {
      return new State(pc, read, open & ~depends, lost, taints);
    }

    long taint(Operand operand) {
      return operand instanceof Operand.Register r ? taints.getOrDefault(r.name(), 0L) : 0;
    }

    private Map<String, Long> with(String register, long taint) {
      Map<String, Long> copy = new HashMap<>(taints);
      copy.put(register, taint);
      return copy;
    }
  }

  private void walk(List<Program.Step> steps) {
    int[] numbers = new int[steps.size()];
    int[] read = new int[steps.size()];
    int count = 0;
    for (int pc = 0; pc < steps.size(); pc++) {
      String location =
          switch (steps.get(pc).instruction()) {
            case Instruction.Load load -> load.location();
            case Instruction.Atom atom -> atom.location();
            default -> null;
          };
      if (location != null) {
        numbers[pc] = count;
        read[count++] = locations.indexOf(location);
      }
    }
    Set<State> seen = new HashSet<>();
    Deque<State> open = new ArrayDeque<>(List.of(new State(0, 0, 0, 0, Map.of())));
    while (!open.isEmpty()) {
      State state = open.pop();
      if (state.pc < steps.size() && seen.add(state)) {
        step(steps, numbers, read, state, open);
      }
    }
  }

  private void step(
      List<Program.Step> steps, int[] numbers, int[] read, State state, Deque<State> open) {
    int pc = state.pc;
    switch (steps.get(pc).instruction()) {
      case Instruction.Load load -> open.push(state.reading(numbers[pc], load.register()));
      case Instruction.Atom atom -> {
        write(read, state, state.taint(atom.a()) | state.taint(atom.b()), atom.location());
        int location = locations.indexOf(atom.location());
        flows.add(location, location);
        open.push(state.reading(numbers[pc], atom.register()));
      }
      case Instruction.Store store -> {
        write(read, state, state.taint(store.value()), store.location());
        open.push(state.at(pc + 1));
      }
      case Instruction.Local local ->
          open.push(
              state.setting(local.register(), state.taint(local.a()) | state.taint(local.b())));
      case Instruction.Branch branch -> {
        State after = state.branching(state.taint(branch.a()) | state.taint(branch.b()));
        Boolean known =
            branch.a() instanceof Operand.Constant a && branch.b() instanceof Operand.Constant b
                ? (Boolean) branch.compare().holds(a.value(), b.value())
                : null;
        if (!Boolean.TRUE.equals(known)) {
          open.push(after.at(pc + 1));
        }
        if (!Boolean.FALSE.equals(known)) {
          open.push(after.at(Program.target(steps, branch.label())));
        }
      }
      case Instruction.Fence fence -> open.push(state.at(pc + 1));
      case Instruction.Label label -> open.push(state.at(pc + 1));
    }
  }

  private void write(int[] read, State state, long operands, String location) {
    int to = locations.indexOf(location);
    long without = (state.open & ~operands) | state.lost;
    for (long left = state.read; left != 0; left &= left - 1) {
      int number = Long.numberOfTrailingZeros(left);
      flows.add(read[number], to);
      if ((without >>> number & 1) != 0) {
        independent.add(read[number], to);
      }
    }
  }
}
