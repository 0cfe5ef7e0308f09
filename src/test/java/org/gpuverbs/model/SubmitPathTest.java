// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Every path of the submit header, with the semantics of steps.def, against the properties that the
 * NIC relies on. The table of expected verdicts, policies/verdicts.tsv, is the one that ORDERING.md
 * explains.
 */
class SubmitPathTest {
  private final StepTable table = Resources.steps();

  @TestFactory
  Stream<DynamicTest> pathsHaveTheVerdictsOfTheTable() {
    Map<String, String[]> said = new TreeMap<>();
    Stream<DynamicTest> tests =
        Resources.table(Resources.litmus("policies").resolve("verdicts.tsv")).stream()
            .map(
                row ->
                    DynamicTest.dynamicTest(
                        row[0] + " " + row[1],
                        () -> {
                          String[] verdicts = verdicts(row[0], FenceMode.valueOf(row[1]));
                          said.put(row[0] + " " + row[1], verdicts);
                          assertEquals(
                              List.of(row).subList(2, row.length),
                              List.of(verdicts),
                              () -> firstSurprise(row));
                        }));
    return tests.onClose(() -> print(said));
  }

  @Test
  void theTableCoversEveryPathInBothModes() {
    Set<String> rows =
        Resources.table(Resources.litmus("policies").resolve("verdicts.tsv")).stream()
            .map(row -> row[0] + " " + row[1])
            .collect(Collectors.toSet());
    Set<String> wanted =
        Stream.concat(SubmitQuestions.SOUND.stream(), SubmitQuestions.UNSOUND.stream())
            .flatMap(path -> Stream.of(path + " SYSTEM", path + " DEVICE"))
            .collect(Collectors.toSet());
    assertEquals(wanted, rows);
  }

  @TestFactory
  Stream<DynamicTest> scenariosHold() {
    return SubmitQuestions.scenarios().stream()
        .flatMap(
            scenario ->
                Stream.of(FenceMode.values())
                    .map(
                        mode ->
                            DynamicTest.dynamicTest(
                                scenario.name() + " " + mode,
                                () -> {
                                  Checker.Verdict verdict =
                                      Checker.check(
                                          LitmusParser.parse(scenario.litmus(table, mode)));
                                  assertTrue(
                                      verdict.pass(), () -> Explainer.explain(verdict.witness()));
                                })));
  }

  @TestFactory
  Stream<DynamicTest> scenariosTakeTheirStepsInTheOrderOfThePaths() {
    return SubmitQuestions.scenarios().stream()
        .map(
            scenario ->
                DynamicTest.dynamicTest(
                    scenario.name(),
                    () ->
                        scenario
                            .walks()
                            .forEach(
                                (thread, path) -> {
                                  Set<String> edges = StepGraph.of(Resources.path(path), table);
                                  List<String> steps = scenario.steps(thread, table);
                                  for (int i = 1; i < steps.size(); i++) {
                                    String edge = StepGraph.edge(steps.get(i - 1), steps.get(i));
                                    assertTrue(edges.contains(edge), edge + " is not in " + path);
                                  }
                                })));
  }

  @Test
  void aReleaseAtTheHandOverWouldOrderTheDoorbells() {
    StepTable released = table;
    for (FenceMode mode : FenceMode.values()) {
      for (String step : List.of("handover_add", "retire_add")) {
        released =
            released.with(
                released
                    .steps()
                    .get(step)
                    .with(mode, new StepTable.Semantics(Order.RELEASE, Scope.GPU)));
      }
    }
    for (FenceMode mode : FenceMode.values()) {
      for (String path : List.of("TURN_CAS", "BITMAP")) {
        for (SubmitCase question : SubmitQuestions.cases(path, mode)) {
          if (question.property() == SubmitCase.Property.NO_LOST_TAIL) {
            assertTrue(Checker.check(question.program(released)).pass(), question::name);
          }
        }
      }
    }
  }

  /**
   * What closes NO_LOST_TAIL at the consumer's side: the DBR ends at the last index, whatever
   * became of the doorbell word, and the WQEs behind it may be read without a doorbell.
   */
  @TestFactory
  Stream<DynamicTest> aConsumerThatLooksAtTheRecordAgainLosesNoTail() {
    List<SubmitCase.Property> needed =
        List.of(SubmitCase.Property.DBR_NOT_BACK, SubmitCase.Property.WQE_BY_RECORD);
    return SubmitQuestions.SOUND.stream()
        .flatMap(
            path -> Stream.of(FenceMode.values()).map(mode -> lookingAgain(path, mode, needed)));
  }

  private DynamicTest lookingAgain(String path, FenceMode mode, List<SubmitCase.Property> needed) {
    return DynamicTest.dynamicTest(
        path + " " + mode,
        () -> {
          for (SubmitCase question : SubmitQuestions.cases(path, mode, needed)) {
            assertTrue(Checker.check(question.program(table)).pass(), question.name());
          }
        });
  }

  /** The last property would be vacuous if it held whatever the fences are. */
  @Test
  void withoutARingReleaseTheRecordAloneSaysNothing() {
    StepTable weak =
        table.with(
            table
                .steps()
                .get("ring_release")
                .with(FenceMode.SYSTEM, new StepTable.Semantics(Order.RELEASE, Scope.GPU)));
    assertTrue(
        SubmitQuestions.cases(
                "TURN_CAS", FenceMode.SYSTEM, List.of(SubmitCase.Property.WQE_BY_RECORD))
            .stream()
            .anyMatch(question -> !Checker.check(question.program(weak)).pass()));
  }

  @Test
  void everyStepOfTheTableIsInSomePath() {
    List<String> used = new ArrayList<>();
    Stream.of(SubmitQuestions.SOUND, SubmitQuestions.UNSOUND, List.of("RESERVE", "TRY_RESERVE"))
        .flatMap(List::stream)
        .forEach(
            path ->
                Resources.path(path)
                    .lines()
                    .forEach(l -> used.add(l.replace(SubmitPath.RESERVE, "").split(" ")[0])));
    assertTrue(
        used.containsAll(table.steps().keySet()),
        () ->
            "in no path: "
                + table.steps().keySet().stream().filter(s -> !used.contains(s)).toList());
  }

  /**
   * For each property, PASS if it holds for every number of submitters and pattern, else the
   * smallest case that fails.
   */
  private String[] verdicts(String path, FenceMode mode) {
    Map<SubmitCase.Property, String> worst = new TreeMap<>();
    for (SubmitCase question : SubmitQuestions.cases(path, mode)) {
      if (!worst.getOrDefault(question.property(), "PASS").equals("PASS")) {
        continue;
      }
      boolean pass = Checker.check(question.program(table)).pass();
      worst.put(question.property(), pass ? "PASS" : "FAIL " + question.pattern());
    }
    return worst.values().toArray(new String[0]);
  }

  private String firstSurprise(String[] row) {
    for (SubmitCase question : SubmitQuestions.cases(row[0], FenceMode.valueOf(row[1]))) {
      Checker.Verdict verdict = Checker.check(question.program(table));
      if (!verdict.pass() && row[2 + question.property().ordinal()].equals("PASS")) {
        return question.litmus(table)
            + (verdict.witness() == null ? "" : Explainer.explain(verdict.witness()));
      }
    }
    return "a verdict is better than expected";
  }

  private static void print(Map<String, String[]> said) {
    List<List<String>> columns = new ArrayList<>();
    columns.add(new ArrayList<>(List.of("")));
    for (SubmitCase.Property property : SubmitCase.Property.IN_TABLE) {
      columns.add(new ArrayList<>(List.of(property.toString())));
    }
    said.forEach(
        (name, verdicts) -> {
          columns.get(0).add(name);
          for (int i = 0; i < verdicts.length; i++) {
            columns.get(i + 1).add(verdicts[i]);
          }
        });
    System.out.print("PTX checker, submit paths:\n" + Table.format(columns).replace(" ;", ""));
  }
}
