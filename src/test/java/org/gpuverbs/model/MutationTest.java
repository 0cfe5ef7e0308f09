// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whether the proof would notice: each ordering step of the sound paths, weakened in each way that
 * PTX can express, must turn a property from PASS to FAIL, or stand in policies/equivalent.tsv with
 * the reason why it makes no difference.
 */
class MutationTest {
  private final StepTable table = Resources.steps();
  private final Map<String, List<SubmitCase>> cases = new HashMap<>();

  @Test
  @Timeout(400)
  void everyWeakerStepIsNoticedOrExplained() {
    for (String path : SubmitQuestions.SOUND) {
      for (FenceMode mode : FenceMode.values()) {
        cases.put(path + mode, passing(path, mode));
      }
    }
    List<Mutant> mutants =
        Mutant.all(table).stream().filter(mutant -> usedBySoundPaths(mutant.step())).toList();
    Set<String> survivors =
        mutants.parallelStream()
            .filter(mutant -> !noticed(mutant))
            .map(Mutant::name)
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> explained = new TreeSet<>();
    for (String[] row : Resources.table(Resources.litmus("policies").resolve("equivalent.tsv"))) {
      explained.add(row[0]);
    }
    System.out.printf(
        "PTX checker, weaker steps: %d of %d noticed, %d explained%n",
        mutants.size() - survivors.size(), mutants.size(), explained.size());
    assertEquals(String.join("\n", explained), String.join("\n", survivors));
  }

  /** The questions that pass as things are, the quickest first. */
  private List<SubmitCase> passing(String path, FenceMode mode) {
    List<SubmitCase> found = new ArrayList<>();
    for (SubmitCase question : SubmitQuestions.cases(path, mode)) {
      if (question.property() != SubmitCase.Property.REACHABLE
          && Checker.check(question.program(table)).pass()) {
        found.add(question);
      }
    }
    found.sort(Comparator.comparingInt(SubmitCase::submitters));
    return found;
  }

  private static boolean usedBySoundPaths(String step) {
    return SubmitQuestions.SOUND.stream().anyMatch(path -> Resources.path(path).uses(step))
        || SubmitQuestions.scenarios().stream().anyMatch(scenario -> scenario.uses(step));
  }

  private boolean noticed(Mutant mutant) {
    for (Scenario scenario : SubmitQuestions.scenarios()) {
      if (scenario.uses(mutant.step()) && !passes(scenario.litmus(mutant.table(), mutant.mode()))) {
        return true;
      }
    }
    for (String path : SubmitQuestions.SOUND) {
      if (Resources.path(path).uses(mutant.step())) {
        for (SubmitCase question : cases.get(path + mutant.mode())) {
          if (!passes(question.litmus(mutant.table()))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private static boolean passes(String litmus) {
    return Checker.check(LitmusParser.parse(litmus)).pass();
  }
}
