// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The checker against an interleaver that knows nothing of memory models, and against itself, on
 * random programs.
 */
class CheckerPropertiesTest {
  private static final int PROGRAMS = 150;

  @Test
  void everyInterleavingIsAllowed() {
    for (int seed = 0; seed < PROGRAMS; seed++) {
      RandomProgram program = RandomProgram.any(new Random(seed));
      Set<String> allowed = program.outcomes();
      Set<String> interleavings = program.interleavings();
      assertTrue(
          allowed.containsAll(interleavings),
          () -> program.litmus() + "\nallowed " + allowed + "\ninterleavings " + interleavings);
    }
  }

  @Test
  void withFenceScBetweenStrongOperationsOnlyInterleavingsAreAllowed() {
    for (int seed = 0; seed < PROGRAMS; seed++) {
      RandomProgram program = RandomProgram.fenced(new Random(seed));
      assertEquals(program.interleavings(), program.outcomes(), program::litmus);
    }
  }

  @Test
  void aStrongerProgramAllowsNothingNew() {
    for (int seed = 0; seed < PROGRAMS; seed++) {
      RandomProgram weak = RandomProgram.any(new Random(seed));
      RandomProgram strong = weak.strengthened(new Random(seed));
      Set<String> allowed = weak.outcomes();
      assertTrue(
          allowed.containsAll(strong.outcomes()), () -> weak.litmus() + "\n" + strong.litmus());
    }
  }

  @Test
  void bothWaysOfEnumeratingFindTheSame() {
    List<String> compared = new ArrayList<>();
    for (int seed = 0; compared.size() < 150; seed++) {
      RandomProgram program = RandomProgram.any(new Random(seed));
      Program parsed = LitmusParser.parse(program.litmus());
      if (!LoadBuffering.possible(parsed)) {
        compared.add(program.litmus());
        assertEquals(
            RandomProgram.outcomes(parsed, Checker.Search.GUESS),
            RandomProgram.outcomes(parsed, Checker.Search.BUILD),
            program::litmus);
      }
    }
  }
}
