// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A test class that runs where libibverbs.so.1 is the stand-in: in the POM's test execution {@code
 * mlx5}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("mlx5")
@Execution(ExecutionMode.SAME_THREAD)
@ExtendWith(OnStandIn.Condition.class)
@interface OnStandIn {
  /** For -Dtest=..., which the POM's other execution takes too. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return StandIn.present()
          ? ConditionEvaluationResult.enabled("")
          : ConditionEvaluationResult.disabled(
              "libibverbs.so.1 is not the stand-in here: runs in the POM's execution mlx5");
    }
  }
}
