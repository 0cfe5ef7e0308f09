// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.SkipExecutionHook;

/**
 * The random programs of {@link RandomProgramsTest}, each by the CPU's lanes and by the GPU,
 * against the same model.
 */
@Tag("gpu")
@AddLifecycleHook(GpuProgramsTest.WithoutGpu.class)
class GpuProgramsTest {
  /** Skips, saying why, where there is no GPU. */
  static final class WithoutGpu implements SkipExecutionHook {
    @Override
    public SkipResult shouldBeSkipped(LifecycleContext context) {
      String missing = GpuTest.Condition.missing(false);
      return missing == null ? SkipResult.doNotSkip() : SkipResult.skip(missing);
    }
  }

  @Property(tries = 60)
  void endAsTheModelDoes(@ForAll("programs") Program program) throws InterruptedException {
    everywhere(program);
  }

  @Property(tries = 30)
  void withErrorsEndAsTheModelDoes(@ForAll("failingPrograms") Program program)
      throws InterruptedException {
    everywhere(program);
  }

  private static void everywhere(Program program) throws InterruptedException {
    ProgramRun.check(program);
    try (Gpu gpu = Gpu.open(0)) {
      for (Payload.Kind kind : Payload.Kind.values()) {
        ProgramRun.check(program, gpu, kind);
      }
    }
  }

  @Provide
  Arbitrary<Program> programs() {
    return RandomProgramsTest.programs(false);
  }

  @Provide
  Arbitrary<Program> failingPrograms() {
    return RandomProgramsTest.programs(true);
  }
}
