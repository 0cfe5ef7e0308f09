// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class UseGateTest {
  private final UseGate gate = new UseGate();

  private boolean unusedWithin(Duration time) {
    return gate.awaitUnused(Deadline.after(time));
  }

  @Test
  void nobodyComesInAfterClose() {
    assertTrue(gate.close());
    assertFalse(gate.enter());
    assertFalse(gate.close());
    assertTrue(gate.closed());
  }

  @Test
  void whoIsInsideHoldsOffTheWaiter() {
    assertTrue(gate.enter());
    gate.close();
    assertFalse(unusedWithin(Duration.ofMillis(2)));
    gate.exit();
    assertTrue(unusedWithin(Duration.ofSeconds(10)));
  }

  @Test
  void aPauseEnds() {
    assertTrue(gate.pause());
    assertFalse(gate.enter());
    assertFalse(gate.pause());
    assertFalse(gate.closed());
    gate.resume();
    assertTrue(gate.enter());
    gate.exit();
  }

  @Test
  void closingOutlastsAPause() {
    assertTrue(gate.pause());
    assertTrue(gate.close());
    gate.resume();
    assertFalse(gate.enter());
    assertFalse(gate.pause());
  }

  @Test
  void refusedEntriesLeaveNoTrace() {
    gate.close();
    for (int i = 0; i < 1000; i++) {
      assertFalse(gate.enter());
    }
    assertTrue(unusedWithin(Duration.ZERO));
  }
}
