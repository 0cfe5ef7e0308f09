// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The checker against verdicts that come from elsewhere. */
class VerdictsTest {
  @TestFactory
  Stream<DynamicTest> submitPathsAgreeWithDartagnan() {
    return agree("peers");
  }

  @TestFactory
  Stream<DynamicTest> classicTestsHaveTheVerdictOfTheirSource() {
    return agree("classic");
  }

  /** What other libraries ship: no verdict from elsewhere, but the one that ORDERING.md reports. */
  @TestFactory
  Stream<DynamicTest> shippedPathsHaveTheVerdictThatIsReported() {
    return agree("shipped");
  }

  @Test
  void everyFileHasAVerdict() throws IOException {
    for (String directory : List.of("peers", "classic", "shipped")) {
      Set<String> expected =
          rows(directory).stream().map(row -> row[0]).collect(Collectors.toSet());
      try (Stream<Path> files = Files.list(Resources.litmus(directory))) {
        Set<String> present =
            files
                .map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(".litmus"))
                .collect(Collectors.toSet());
        assertEquals(expected, present, directory);
      }
    }
  }

  private static List<String[]> rows(String directory) {
    return Resources.table(Resources.litmus(directory).resolve("expected.tsv"));
  }

  private static Stream<DynamicTest> agree(String directory) {
    List<String> report = new ArrayList<>();
    List<String[]> rows = rows(directory);
    Stream<DynamicTest> tests =
        rows.stream()
            .map(
                row ->
                    DynamicTest.dynamicTest(
                        row[0],
                        () -> {
                          Checker.Verdict verdict =
                              Checker.check(
                                  LitmusParser.parse(Resources.litmus(directory).resolve(row[0])));
                          String said = verdict.pass() ? "PASS" : "FAIL";
                          report.add(row[0].replace(".litmus", "") + " " + said);
                          assertEquals(row[1], said, () -> explanation(verdict));
                        }));
    return tests.onClose(
        () -> System.out.printf("PTX checker, litmus/%s:%n%s", directory, Table.grid(report, 3)));
  }

  private static String explanation(Checker.Verdict verdict) {
    return verdict.witness() == null
        ? "no execution satisfies the condition"
        : Explainer.explain(verdict.witness());
  }
}
