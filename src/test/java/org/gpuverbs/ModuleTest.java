// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What the build promises about the module that the tests run in. */
class ModuleTest {
  private final Module module = GpuVerbs.class.getModule();

  @Test
  void testsRunOnTheModulePath() {
    assertTrue(module.isNamed());
    assertEquals("org.gpuverbs", module.getName());
  }

  @Test
  void testsRunWithNativeAccess() {
    assertTrue(module.isNativeAccessEnabled());
  }
}
