// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gpuverbs.Access;
import org.gpuverbs.Availability;
import org.gpuverbs.Batch;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.gpuverbs.PortOptions;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.QueuePairState;
import org.gpuverbs.RdmaException;
import org.gpuverbs.WorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a user or a machine may get wrong names itself and the fix. */
@OnStandIn
@Timeout(120)
class DirectBadInputTest {
  private static void names(Availability availability, String reason, String fix) {
    assertFalse(availability.available());
    assertTrue(availability.reason().contains(reason), availability.toString());
    assertTrue(availability.fix().contains(fix), availability.toString());
  }

  @Test
  void aPortThatIsDownIsNamed() {
    try (StandIn machine = StandIn.start()) {
      NicInfo before = Ends.connectX();
      machine.set("port.state", 1);
      names(Ends.connectX().path(Path.DIRECT), "no port of mlx5_0 is active", "doctor");
      RdmaException e = assertThrows(RdmaException.class, () -> Nic.open(before));
      assertTrue(String.valueOf(e.getMessage()).contains("no active port"), e.getMessage());
    }
  }

  @Test
  void aPortWithoutGidIsNamed() {
    try (StandIn machine = StandIn.start().set("gids", 0)) {
      names(Ends.connectX().path(Path.DIRECT), "no RoCE v2 GID", "doctor");
    }
  }

  @Test
  void aGidThatIsNotThereIsNamed() {
    try (StandIn machine = StandIn.start()) {
      PortOptions empty = PortOptions.defaults().withPort(1, 200);
      RdmaException e = assertThrows(RdmaException.class, () -> Nic.open(Ends.connectX(), empty));
      assertTrue(e.hint().contains("GID"), e.hint());
    }
  }

  @Test
  void anInfiniBandPortWithoutLidIsNamedAndWithOneItConnects() throws Exception {
    try (StandIn machine = StandIn.start().set("port.ethernet", 0).set("port.lid", 0)) {
      names(Ends.connectX().path(Path.DIRECT), "no LID", "doctor");
    }
    StandIn machine = StandIn.start().set("port.ethernet", 0);
    try (Ends ends = new Ends(machine, QueuePairOptions.builder())) {
      DevxQueue queue = StandIn.queuePair(ends.qp.number());
      assertEquals(7, queue.remoteLid());
      ends.run(ends.write(0, 4096));
    }
  }

  @Test
  void aKernelWithoutRdmaIsNamed() {
    try (StandIn machine = StandIn.start().set("uverbs", 1)) {
      Availability soft = Nic.list().getFirst().path(Path.DIRECT);
      names(soft, "no RDMA device", "driver");
    }
  }

  @Test
  void aDeviceThatMayNotBeOpenedIsNamed() {
    try (StandIn machine = StandIn.start().set("uverbs", 3)) {
      names(Ends.connectX().path(Path.DIRECT), "can't be opened (errno 13)", "permissions");
    }
  }

  @Test
  void aDeviceWithoutDevxOffersProxyAlone() {
    try (StandIn machine = StandIn.start().set("devx", 0)) {
      NicInfo info = Ends.connectX();
      assertFalse(info.path(Path.DIRECT).available());
      assertFalse(info.path(Path.DIRECT).fix().isEmpty());
      assertTrue(info.path(Path.PROXY).available(), info.toString());
      try (Nic nic = Nic.open(info)) {
        RdmaException e =
            assertThrows(
                RdmaException.class,
                () -> nic.queuePair(QueuePairOptions.builder().path(Path.DIRECT).build()));
        assertTrue(String.valueOf(e.getMessage()).contains("has no path DIRECT"), e.getMessage());
      }
    }
  }

  @Test
  void exhaustedLockedMemoryIsNamedWithTheFix() {
    try (StandIn machine = StandIn.start();
        Nic nic = Nic.open(Ends.connectX())) {
      machine.set("memlock", 1 << 16);
      RdmaException region = assertThrows(RdmaException.class, () -> nic.allocate(1 << 20));
      assertTrue(region.hint().contains("limit of locked memory"), region.hint());
      RdmaException qp =
          assertThrows(
              RdmaException.class,
              () -> nic.queuePair(QueuePairOptions.builder().depth(16384).build()));
      assertTrue(qp.hint().contains("limit of locked memory"), qp.hint());
      machine.set("memlock", -1);
      nic.queuePair(QueuePairOptions.builder().depth(16384).build());
    }
  }

  @Test
  void moreThanTheNicTakesIsNamed() {
    StandIn machine = StandIn.start().set("cap.cmd_hca_cap.log_max_qp_sz", 8);
    machine.set("cap.cmd_hca_cap.log_max_cq_sz", 10).set("cap.cmd_hca_cap.max_wqe_sz_sq", 192);
    try (machine;
        Nic nic = Nic.open(Ends.connectX())) {
      refused(nic, QueuePairOptions.builder().depth(512).maxInline(100), "depth 512");
      refused(nic, QueuePairOptions.builder().depth(256).maxInline(220), "maxInline 220");
      refused(
          nic,
          QueuePairOptions.builder().depth(64).maxInline(100).sendQueue(nic.completionQueue(2048)),
          "1024 CQEs");
      nic.queuePair(QueuePairOptions.builder().depth(256).maxInline(100).build());
    }
  }

  private static void refused(Nic nic, QueuePairOptions.Builder options, String what) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> nic.queuePair(options.build()));
    assertTrue(e.getMessage().contains(what), e.getMessage());
  }

  @Test
  void atomicsOfTheOtherByteOrderAreRefused() {
    try (StandIn machine = StandIn.start().set("atomics", 2);
        Nic nic = Nic.open(Ends.connectX());
        MemoryRegion memory = nic.allocate(64, Access.values());
        QueuePair qp = nic.queuePair(QueuePairOptions.defaults())) {
      assertEquals(Path.DIRECT, qp.path());
      WorkRequest add = new WorkRequest.FetchAdd(memory.local(0, 8), memory.remote(8, 8), 1);
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> Batch.of(qp, add));
      assertTrue(e.getMessage().contains("host's byte order"), e.getMessage());
    }
  }

  @Test
  void aPeerThatCannotBeReachedIsRefusedAndTheQueuePairStaysUsable() {
    try (StandInNic one = new StandInNic()) {
      QueuePair qp = one.nic.queuePair(QueuePairOptions.defaults());
      QueuePair peer = one.nic.queuePair(QueuePairOptions.defaults());
      QueuePairAddress right = peer.address();
      assertThrows(
          IllegalArgumentException.class,
          () -> new QueuePairAddress(Path.DIRECT, 1, 1 << 24, 0, 0, 1024, 0, 1));
      QueuePairAddress nowhere =
          new QueuePairAddress(Path.DIRECT, 1, right.number(), 0, 0, 1024, 0, 0);
      assertThrows(IllegalArgumentException.class, () -> qp.connect(nowhere));
      QueuePairAddress soft = new QueuePairAddress(Path.SOFT, 1, 1, 0, 0, 0, 0, 0);
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> qp.connect(soft));
      assertTrue(e.getMessage().contains("SOFT does not reach"), e.getMessage());
      assertEquals(QueuePairState.RESET, qp.state());
      Ends.connect(qp, peer);
      assertEquals(QueuePairState.READY, qp.state());
    }
  }

  @Test
  void theSmallerMtuAndThePortsOptionsReachTheFirmware() {
    PortOptions options = PortOptions.defaults().withMtu(1024).withPriority(0, 3, 104);
    try (Ends ends = new Ends(StandIn.start(), QueuePairOptions.builder(), options)) {
      DevxQueue queue = StandIn.queuePair(ends.qp.number());
      assertEquals(3, queue.mtu()); // IBV_MTU_1024
      assertEquals(104 >> 2, queue.trafficClass() >> 2);
      assertEquals(3, queue.gidIndex());
    }
  }

  @Test
  void directAndProxyReachEachOther() {
    try (StandInNic one = new StandInNic()) {
      QueuePair direct = one.nic.queuePair(QueuePairOptions.defaults());
      QueuePairAddress proxy = direct.address();
      QueuePairAddress other =
          new QueuePairAddress(
              Path.PROXY,
              proxy.guid(),
              proxy.number(),
              proxy.packetSequence(),
              proxy.lid(),
              proxy.mtu(),
              proxy.gidHigh(),
              proxy.gidLow());
      direct.connect(other);
      assertEquals(QueuePairState.READY, direct.state());
    }
  }
}
