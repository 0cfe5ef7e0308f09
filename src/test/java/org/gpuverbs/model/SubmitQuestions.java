// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** All questions that are asked about the submit path, and the verdicts that are expected. */
final class SubmitQuestions {
  /** Paths that a policy may take without {@code unchecked()}. */
  static final List<String> SOUND =
      List.of(
          "CLASSIC", "TURN_CAS", "TURN_LDST", "BITMAP", "BITMAP_WORD", "BITMAP_WARP", "EXCLUSIVE");

  static final List<String> UNSOUND = List.of("NOLOCK", "RELAXED");

  private SubmitQuestions() {}

  /**
   * Ringing patterns matter where the submitter decides by itself; BITMAP's winner rings whenever
   * it finds something.
   */
  static List<SubmitCase> cases(String path, FenceMode mode) {
    return cases(path, mode, SubmitCase.Property.IN_TABLE);
  }

  static List<SubmitCase> cases(String path, FenceMode mode, List<SubmitCase.Property> properties) {
    List<SubmitCase> cases = new ArrayList<>();
    boolean bitmap = path.startsWith("BITMAP");
    // Three warps have more events than fit.
    for (int submitters = 2; submitters <= (path.equals("BITMAP_WARP") ? 2 : 3); submitters++) {
      List<Set<Integer>> patterns =
          bitmap ? List.of(Set.of(submitters - 1)) : SubmitCase.patterns(submitters);
      for (Set<Integer> ringers : patterns) {
        for (SubmitCase.Property property : properties) {
          cases.add(new SubmitCase(Resources.path(path), mode, submitters, ringers, property));
        }
      }
    }
    return cases;
  }

  static List<Scenario> scenarios() {
    try (Stream<Path> files = Files.list(Resources.litmus("policies"))) {
      List<Scenario> scenarios = new ArrayList<>();
      for (Path file : files.filter(f -> f.toString().endsWith(".scenario")).sorted().toList()) {
        scenarios.add(Scenario.read(file));
      }
      return scenarios;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
