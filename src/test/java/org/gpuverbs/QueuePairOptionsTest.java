// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QueuePairOptionsTest {
  private static QueuePairOptions.Builder builder() {
    return QueuePairOptions.builder();
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -64, 0, 1, 32, 63, 65, 100, 16383, 32768})
  void aWrongDepthIsRefused(int depth) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> builder().depth(depth));
    assertTrue(e.getMessage().contains("64..16384"), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 3, 32768})
  void aWrongReceiveDepthIsRefused(int depth) {
    assertThrows(IllegalArgumentException.class, () -> builder().receiveDepth(depth));
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, QueuePairOptions.MAX_INLINE + 1})
  void aWrongInlineSizeIsRefused(int bytes) {
    assertThrows(IllegalArgumentException.class, () -> builder().maxInline(bytes));
  }

  @Test
  void aReceiveQueueNeedsItsCompletionQueue() {
    assertThrows(IllegalArgumentException.class, () -> builder().receiveDepth(64).build());
  }

  @Test
  void gpuPlacementIsRefusedWithoutGpu() {
    assertThrows(IllegalArgumentException.class, () -> builder().placement(Placement.GPU).build());
  }

  @Test
  void deviceFencesOnHostMemoryNeedUnchecked() {
    SubmitPolicy policy = SubmitPolicy.TURN.fenceMode(FenceMode.DEVICE);
    assertThrows(IllegalArgumentException.class, () -> builder().policy(policy).build());
    SubmitPolicy unchecked = SubmitPolicy.unchecked(HandOver.TURN, FenceMode.DEVICE, 1);
    assertEquals(unchecked, builder().policy(unchecked).build().policy());
  }

  @Test
  void aDoorbellIntervalAboveTheDepthIsRefused() {
    SubmitPolicy policy = SubmitPolicy.TURN.doorbellEvery(128);
    assertThrows(IllegalArgumentException.class, () -> builder().depth(64).policy(policy).build());
  }

  @Test
  void unsoundHandOversNeedUnchecked() {
    assertThrows(
        IllegalArgumentException.class,
        () -> SubmitPolicy.CLASSIC.handOver(HandOver.CLASSIC_WITHOUT_LOCK));
    assertThrows(
        IllegalArgumentException.class, () -> SubmitPolicy.TURN.handOver(HandOver.TURN_RELAXED));
    assertTrue(SubmitPolicy.unchecked(HandOver.TURN_RELAXED, FenceMode.SYSTEM, 1).unchecked());
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 3, 2048})
  void aWrongDoorbellIntervalIsRefused(int every) {
    assertThrows(IllegalArgumentException.class, () -> SubmitPolicy.CLASSIC.doorbellEvery(every));
  }

  @Test
  void timeoutsAreNotNegative() {
    assertThrows(
        IllegalArgumentException.class, () -> builder().closeTimeout(Duration.ofNanos(-1)));
    assertThrows(IllegalArgumentException.class, () -> builder().submitTimeout(Duration.ZERO));
  }

  @Test
  void everyDepthAndPolicyMakesAQueue() {
    try (Nic nic = Nic.open()) {
      for (int depth = 64; depth <= 16384; depth *= 2) {
        for (HandOver handOver : HandOver.values()) {
          SubmitPolicy policy =
              SubmitPolicy.unchecked(handOver, FenceMode.SYSTEM, Math.min(depth, 1024));
          nic.queuePair(builder().depth(depth).maxInline(972).policy(policy).build()).close();
        }
      }
    }
  }
}
