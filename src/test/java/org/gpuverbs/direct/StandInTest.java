// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.gpuverbs.internal.discovery.KernelFiles;
import org.gpuverbs.internal.discovery.RdmaDevice;
import org.gpuverbs.internal.discovery.RdmaPort;
import org.gpuverbs.internal.softnic.SoftNicConfig;
import org.gpuverbs.internal.wire.Syndrome;
import org.junit.jupiter.api.Test;

/** The stand-in with its software NIC, used by plain DEVX calls. */
@OnStandIn
class StandInTest {
  private static final String TEXT = "bytes that a DEVX queue pair moves";

  @Test
  void aWriteByDevxArrives() {
    try (StandIn machine = StandIn.start();
        RawDevx a = new RawDevx();
        RawDevx b = new RawDevx()) {
      a.connect(b, 100, 200);
      b.connect(a, 200, 100);
      a.fill(64, TEXT);
      assertEquals(0, a.await(a.write(64, b, 4096, TEXT.length(), b.key)));
      assertEquals(TEXT, new String(b.bytes(4096, TEXT.length()), StandardCharsets.UTF_8));
      DevxQueue queue = StandIn.queuePair(a.number);
      assertEquals(DevxQueue.RTS, queue.state());
      assertEquals(b.number, queue.remoteNumber());
      assertEquals(DevxQueue.UAR_NONCACHED, queue.uarKind());
      assertEquals(6, queue.access());
      assertEquals(List.of(), machine.problems());
      StandIn.assertNothingRefused();
    }
  }

  @Test
  void aResetQueuePairConnectsAgain() {
    try (StandIn machine = StandIn.start();
        RawDevx a = new RawDevx();
        RawDevx b = new RawDevx()) {
      a.connect(b, 1, 2);
      b.connect(a, 2, 1);
      assertEquals(13, a.await(a.write(0, b, 0, 8, b.key ^ 0x5500)));
      assertEquals(Syndrome.REMOTE_ACCESS, a.syndrome());
      assertEquals(DevxQueue.ERROR, a.state());
      a.reset();
      b.reset();
      assertEquals(DevxQueue.RESET, a.state());
      assertEquals(0, StandIn.queuePair(a.number).state());
      StandIn.assertNothingRefused();
    }
  }

  @Test
  void flushesOverwriteTheFirstErrorAsInHardware() {
    try (StandIn machine = StandIn.start(SoftNicConfig.defaults().withFlushesOverwrite(true));
        RawDevx a = new RawDevx();
        RawDevx b = new RawDevx()) {
      a.connect(b, 1, 2);
      b.connect(a, 2, 1);
      a.await(a.write(0, b, 0, 8, b.key ^ 0x5500));
      a.write(0, b, 0, 8, b.key);
      long deadline = System.nanoTime() + 20_000_000_000L;
      while (a.syndrome() != Syndrome.FLUSHED && System.nanoTime() - deadline < 0) {
        Thread.onSpinWait();
      }
      assertEquals(Syndrome.FLUSHED, a.syndrome());
    }
  }

  @Test
  void theMachineIsSeenUnderSys() {
    try (StandIn machine = StandIn.start()) {
      RdmaDevice device = RdmaDevice.list(KernelFiles.here()).getFirst();
      assertTrue(device.mlx5());
      RdmaPort port = device.ports().getFirst();
      assertEquals(3, port.gid().orElseThrow().index());
      machine.set("gids", 0);
      assertTrue(RdmaDevice.list(KernelFiles.here()).getFirst().ports().getFirst().gid().isEmpty());
      machine.set("port.state", 1).set("devices", 2);
      assertEquals(2, RdmaDevice.list(KernelFiles.here()).size());
      assertTrue(RdmaDevice.list(KernelFiles.here()).getFirst().activePort().isEmpty());
    }
  }

  @Test
  void whatIsLeftAliveIsNamed() {
    StandIn machine = StandIn.start();
    RawDevx left = new RawDevx();
    AssertionError error = assertThrows(AssertionError.class, machine::close);
    assertTrue(error.getMessage().contains("live.umems 1"), error.getMessage());
    left.close();
    assertEquals(List.of(), StandIn.leaks());
  }
}
