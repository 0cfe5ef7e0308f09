// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A litmus program: threads, initial state, and a condition that is asked about every final state.
 *
 * @param unroll how often a backward branch may be taken; executions that need more are not looked
 *     at
 */
record Program(
    String name,
    List<Code> threads,
    Map<String, Long> memory,
    Map<String, Long> registers,
    Quantifier quantifier,
    Condition condition,
    int unroll) {

  /** One thread's code. */
  record Code(String name, Scope.Place place, List<Step> steps) {}

  /** An instruction and the text it came from. */
  record Step(Instruction instruction, String text) {}

  /** The position of a label in a thread's code. */
  static int target(List<Step> steps, String label) {
    for (int i = 0; i < steps.size(); i++) {
      if (steps.get(i).instruction() instanceof Instruction.Label l && l.name().equals(label)) {
        return i;
      }
    }
    throw new IllegalArgumentException("no label " + label);
  }

  /** What is asked of the condition. NEVER is {@code ~exists}, ALWAYS is {@code forall}. */
  enum Quantifier {
    NEVER,
    SOMETIMES,
    ALWAYS
  }

  /** Every location named anywhere, sorted. */
  Set<String> locations() {
    Set<String> all = new TreeSet<>(memory.keySet());
    all.addAll(condition.locations());
    for (Code code : threads) {
      for (Step step : code.steps()) {
        switch (step.instruction()) {
          case Instruction.Load load -> all.add(load.location());
          case Instruction.Store store -> all.add(store.location());
          case Instruction.Atom atom -> all.add(atom.location());
          default -> {}
        }
      }
    }
    return all;
  }
}
