// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class PortOptionsTest {
  private static final PortOptions DEFAULTS = PortOptions.defaults();

  private static void refused(String name, Runnable make) {
    String message = assertThrows(IllegalArgumentException.class, make::run).getMessage();
    assertTrue(message.startsWith(name), message);
  }

  @Test
  void whatIsOutOfRangeIsNamed() {
    refused("port", () -> DEFAULTS.withPort(256, 0));
    refused("gidIndex", () -> DEFAULTS.withPort(1, -2));
    refused("mtu", () -> DEFAULTS.withMtu(1500));
    refused("pkeyIndex", () -> DEFAULTS.withPriority(-1, 0, 0));
    refused("serviceLevel", () -> DEFAULTS.withPriority(0, 16, 0));
    refused("trafficClass", () -> DEFAULTS.withPriority(0, 0, 256));
    refused("timeout", () -> DEFAULTS.withRetries(0, 7, 7, 12));
    refused("retries", () -> DEFAULTS.withRetries(16, 8, 7, 12));
    refused("rnrRetries", () -> DEFAULTS.withRetries(16, 7, 8, 12));
    refused("rnrTimer", () -> DEFAULTS.withRetries(16, 7, 7, 32));
  }

  @Test
  void eachWithMethodChangesItsOwn() {
    PortOptions changed =
        DEFAULTS.withPort(2, 3).withMtu(1024).withPriority(1, 2, 104).withRetries(18, 5, 4, 12);
    assertEquals(new PortOptions(2, 3, 1024, 1, 2, 104, 18, 5, 4, 12), changed);
  }

  @Test
  void theDefaultsGiveASilentPeerUp() {
    assertTrue(DEFAULTS.retries() < 7 && DEFAULTS.rnrRetries() < 7, DEFAULTS.toString());
  }

  @Test
  void aNicWithoutHardwarePathIsRefusedWithTheReason() {
    NicInfo gone =
        new NicInfo("mlx5_9", Map.of(Path.PROXY, Availability.no("the port is down", "plug it")));
    RdmaException refused =
        assertThrows(RdmaException.class, () -> Nic.open(gone, PortOptions.defaults()));
    assertTrue(String.valueOf(refused.getMessage()).contains("the port is down"));
    assertEquals("plug it", refused.hint());
  }

  @Test
  void aDeviceThatIsGoneIsRefusedByName() {
    NicInfo gone = new NicInfo("nosuch0", Map.of(Path.PROXY, Availability.yes()));
    RdmaException refused =
        assertThrows(RdmaException.class, () -> Nic.open(gone, PortOptions.defaults()));
    assertTrue(String.valueOf(refused.getMessage()).contains("nosuch0 is gone"));
  }
}
