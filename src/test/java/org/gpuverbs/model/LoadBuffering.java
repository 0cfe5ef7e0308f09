// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

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

  private final Program program;
  private final List<String> locations;

  private LoadBuffering(Program program) {
    this.program = program;
    this.locations = List.copyOf(program.locations());
    this.flows = new Relation(locations.size());
    this.independent = new Relation(locations.size());
  }

  static boolean possible(Program program) {
    LoadBuffering analysis = new LoadBuffering(program);
    for (Program.Code code : program.threads()) {
      analysis.walk(code.steps(), new int[code.steps().size()], 0, List.of(), 0, new HashMap<>());
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
   * @param taken how often each backward branch was taken
   * @param reads the locations read so far, in order
   * @param control the reads that branches so far depend on, as bits
   * @param taints for each register the reads that its value was computed from
   */
  private void walk(
      List<Program.Step> steps,
      int[] taken,
      int pc,
      List<Integer> reads,
      long control,
      Map<String, Long> taints) {
    if (pc >= steps.size()) {
      return;
    }
    switch (steps.get(pc).instruction()) {
      case Instruction.Load load -> {
        Map<String, Long> after = with(taints, load.register(), 1L << reads.size());
        walk(steps, taken, pc + 1, plus(reads, load.location()), control, after);
      }
      case Instruction.Atom atom -> {
        write(reads, control | taint(taints, atom.a()) | taint(taints, atom.b()), atom.location());
        int location = locations.indexOf(atom.location());
        flows.add(location, location);
        Map<String, Long> after = with(taints, atom.register(), 1L << reads.size());
        walk(steps, taken, pc + 1, plus(reads, atom.location()), control, after);
      }
      case Instruction.Store store -> {
        write(reads, control | taint(taints, store.value()), store.location());
        walk(steps, taken, pc + 1, reads, control, taints);
      }
      case Instruction.Local local -> {
        long taint = taint(taints, local.a()) | taint(taints, local.b());
        walk(steps, taken, pc + 1, reads, control, with(taints, local.register(), taint));
      }
      case Instruction.Branch branch -> branch(branch, steps, taken, pc, reads, control, taints);
      case Instruction.Fence fence -> walk(steps, taken, pc + 1, reads, control, taints);
      case Instruction.Label label -> walk(steps, taken, pc + 1, reads, control, taints);
    }
  }

  private void branch(
      Instruction.Branch branch,
      List<Program.Step> steps,
      int[] taken,
      int pc,
      List<Integer> reads,
      long control,
      Map<String, Long> taints) {
    long after = control | taint(taints, branch.a()) | taint(taints, branch.b());
    Boolean known =
        branch.a() instanceof Operand.Constant a && branch.b() instanceof Operand.Constant b
            ? (Boolean) branch.compare().holds(a.value(), b.value())
            : null;
    if (!Boolean.TRUE.equals(known)) {
      walk(steps, taken, pc + 1, reads, after, taints);
    }
    int target = Program.target(steps, branch.label());
    if (!Boolean.FALSE.equals(known) && (target > pc || taken[pc] < program.unroll())) {
      taken[pc]++;
      walk(steps, taken, target, reads, after, taints);
      taken[pc]--;
    }
  }

  private void write(List<Integer> reads, long depends, String location) {
    int to = locations.indexOf(location);
    for (int i = 0; i < reads.size(); i++) {
      flows.add(reads.get(i), to);
      if ((depends >> i & 1) == 0) {
        independent.add(reads.get(i), to);
      }
    }
  }

  private List<Integer> plus(List<Integer> reads, String location) {
    List<Integer> copy = new java.util.ArrayList<>(reads);
    copy.add(locations.indexOf(location));
    return copy;
  }

  private static Map<String, Long> with(Map<String, Long> taints, String register, long taint) {
    Map<String, Long> copy = new HashMap<>(taints);
    copy.put(register, taint);
    return copy;
  }

  private static long taint(Map<String, Long> taints, Operand operand) {
    return operand instanceof Operand.Register r ? taints.getOrDefault(r.name(), 0L) : 0;
  }
}
