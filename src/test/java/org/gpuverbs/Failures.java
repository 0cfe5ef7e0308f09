// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** How stages fail. */
final class Failures {
  private Failures() {}

  static RdmaException of(CompletionStage<?> stage) {
    ExecutionException e =
        assertThrows(
            ExecutionException.class, () -> stage.toCompletableFuture().get(20, TimeUnit.SECONDS));
    return assertInstanceOf(RdmaException.class, e.getCause());
  }

  static boolean done(CompletionStage<?> stage) {
    return stage.toCompletableFuture().isDone();
  }
}
