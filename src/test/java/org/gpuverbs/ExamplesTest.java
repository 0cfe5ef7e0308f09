// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import examples.Consumer;
import examples.OverDecomposition;
import examples.TwoQueuePairs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples validate themselves, and throw if anything is wrong. */
@Timeout(120)
class ExamplesTest {
  private static final String[] NO_ARGUMENTS = {};

  @Test
  void twoQueuePairsGreetEachOther() {
    assertDoesNotThrow(() -> TwoQueuePairs.main(NO_ARGUMENTS));
  }

  @Test
  void aConsumerReceivesEveryMessage() {
    assertDoesNotThrow(() -> Consumer.main(NO_ARGUMENTS));
  }

  @Test
  void overDecomposedSchedulersSendEveryResult() {
    String[] twoSchedulersWithFourTasks = {"2", "4", "100"};
    assertDoesNotThrow(() -> OverDecomposition.main(twoSchedulersWithFourTasks));
  }
}
