// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BudgetTest {
  private final Budget budget = new Budget(Duration.ofHours(1), Duration.ofMillis(300));

  @Test
  void aRunThatFitsIsAsLongAsWanted() {
    assertEquals(1000, budget.rounds(1000, 16, 100, 0.01));
    assertEquals(1000, budget.rounds(1000, 16, 100, 0));
  }

  @Test
  void aRunThatWouldTakeLongerIsCutToItsTime() {
    assertEquals(150, budget.rounds(1000, 16, 100, 0.2));
  }

  @Test
  void aSlowCaseStillHasItsLeast() {
    assertEquals(16, budget.rounds(1000, 16, 100, 60));
    assertEquals(16, budget.rounds(4, 16, 16, 0.1));
  }

  @Test
  void theTimeIsOverOnceItHasPassed() {
    assertFalse(budget.isOver());
    assertTrue(new Budget(Duration.ofSeconds(-1), Duration.ofMillis(1)).isOver());
  }
}
