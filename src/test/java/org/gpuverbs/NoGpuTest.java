// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What a machine without a GPU says. */
class NoGpuTest {
  private final RdmaException cause = Gpu.unavailabilityCause();

  @Test
  void theReasonSaysWhatIsMissingAndWhatToDo() {
    assumeFalse(cause == null, "there is a GPU");
    assertFalse(Gpu.isAvailable());
    assertTrue(cause.getMessage().contains("GPU"), cause.getMessage());
    assertTrue(cause.hint().contains(": "), cause.hint());
  }

  @Test
  void nothingIsListed() {
    assumeFalse(cause == null, "there is a GPU");
    assertEquals(List.of(), Gpu.list());
  }

  @Test
  void openingThrowsTheReason() {
    assumeFalse(cause == null, "there is a GPU");
    RdmaException e = assertThrows(RdmaException.class, () -> Gpu.open(0));
    assertTrue(e.getMessage().contains(cause.getMessage()), e.getMessage());
    assertThrows(RdmaException.class, () -> Gpu.of(1));
  }

  @Test
  void aMissingCompilerIsNamed() {
    RdmaException compiler = Gpu.compilerUnavailabilityCause();
    assumeFalse(compiler == null, "there is an NVRTC");
    assertTrue(compiler.hint().contains("NVRTC"), compiler.hint());
  }
}
