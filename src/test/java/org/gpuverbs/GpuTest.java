// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Tests of a GPU: skipped, saying why, where there is none. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("gpu")
@Timeout(120)
@ExtendWith(GpuTest.Condition.class)
@interface GpuTest {
  /** Whether kernels are compiled too. */
  boolean compiler() default false;

  /** Skips. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      String why = missing(context.getRequiredTestClass().getAnnotation(GpuTest.class).compiler());
      return why == null
          ? ConditionEvaluationResult.enabled("a GPU")
          : ConditionEvaluationResult.disabled(why);
    }

    /** Null, or why there is no GPU to test with. */
    static String missing(boolean compiler) {
      RdmaException cause = Gpu.unavailabilityCause();
      if (cause == null && compiler) {
        cause = Gpu.compilerUnavailabilityCause();
      }
      return cause == null ? null : "no GPU: " + cause.hint();
    }
  }
}
