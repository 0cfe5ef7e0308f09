// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import examples.Consumer;
import examples.HaloExchange;
import examples.OverDecomposition;
import examples.TwoQueuePairs;
import examples.WithJCuda;
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
  void ranksOfAStencilExchangeTheirBorders() {
    String missing = GpuTest.Condition.missing(true);
    assumeTrue(missing == null, missing);
    assertDoesNotThrow(() -> HaloExchange.main(NO_ARGUMENTS));
  }

  @Test
  void aKernelThatJCudaLaunchesPuts() {
    String missing = GpuTest.Condition.missing(true);
    assumeTrue(missing == null, missing);
    assertDoesNotThrow(() -> WithJCuda.main(NO_ARGUMENTS));
  }

  @Test
  void overDecomposedSchedulersSendEveryResult() {
    String[] twoSchedulersWithFourTasks = {"2", "4", "100"};
    assertDoesNotThrow(() -> OverDecomposition.main(twoSchedulersWithFourTasks));
  }
}
