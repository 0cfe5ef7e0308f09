// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import examples.HaloExchange;
import examples.WithJCuda;
import org.junit.jupiter.api.Test;

/** The examples for a GPU, which throw if anything is wrong. */
@GpuTest(compiler = true)
class GpuExamplesTest {
  private static final String[] NO_ARGUMENTS = {};

  @Test
  void ranksOfAStencilExchangeTheirBorders() {
    assertDoesNotThrow(() -> HaloExchange.main(NO_ARGUMENTS));
  }

  @Test
  void aKernelThatJCudaLaunchesPuts() {
    assertDoesNotThrow(() -> WithJCuda.main(NO_ARGUMENTS));
  }
}
