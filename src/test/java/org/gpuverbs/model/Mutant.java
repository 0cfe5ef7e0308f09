// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.List;

/** One ordering step made weaker in one fence mode. */
record Mutant(String step, FenceMode mode, String change, StepTable table) {
  String name() {
    return step + " " + mode + " " + change;
  }

  /** Every weakening of every step that PTX can express. */
  static List<Mutant> all(StepTable table) {
    List<Mutant> mutants = new ArrayList<>();
    for (StepTable.Step step : table.steps().values()) {
      for (FenceMode mode : FenceMode.values()) {
        StepTable.Semantics now = step.in(mode);
        for (Scope scope : Scope.values()) {
          if (scope.compareTo(now.scope()) < 0) {
            String change = now.scope().token() + " to " + scope.token();
            add(mutants, table, step, mode, change, new StepTable.Semantics(now.order(), scope));
          }
        }
        for (Order order : weaker(step.kind(), now.order())) {
          String change = now.order().token() + " to " + order.token();
          add(mutants, table, step, mode, change, new StepTable.Semantics(order, now.scope()));
        }
        if (step.kind() == StepTable.Kind.FENCE) {
          mutants.add(new Mutant(step.name(), mode, "removed", table.with(step.removed())));
        }
        if (step.kind().readModifyWrite()) {
          mutants.add(new Mutant(step.name(), mode, "load and store", table.with(step.plain())));
        }
      }
    }
    return mutants;
  }

  private static void add(
      List<Mutant> mutants,
      StepTable table,
      StepTable.Step step,
      FenceMode mode,
      String change,
      StepTable.Semantics semantics) {
    mutants.add(new Mutant(step.name(), mode, change, table.with(step.with(mode, semantics))));
  }

  private static List<Order> weaker(StepTable.Kind kind, Order order) {
    return switch (order) {
      case SC -> List.of(Order.ACQ_REL, Order.ACQUIRE, Order.RELEASE);
      case ACQ_REL -> List.of(Order.ACQUIRE, Order.RELEASE);
      // A fence has no weaker form but none; an atomic operation is never weak, and .mmio is always
      // .relaxed.
      case ACQUIRE, RELEASE -> kind == StepTable.Kind.FENCE ? List.of() : List.of(Order.RELAXED);
      case RELAXED ->
          kind.readModifyWrite() || kind == StepTable.Kind.MMIO64 ? List.of() : List.of(Order.WEAK);
      case WEAK -> List.of();
    };
  }
}
