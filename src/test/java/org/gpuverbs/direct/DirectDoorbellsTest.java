// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.Gpu;
import org.gpuverbs.PathDetails;
import org.gpuverbs.PathDetails.Doorbell;
import org.gpuverbs.PathDetails.QueueMemory;
import org.gpuverbs.Placement;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.QueuePairState;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Ringer;
import org.gpuverbs.WorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Doorbell registers of each kind, and who rings them. */
@OnStandIn
@Timeout(120)
class DirectDoorbellsTest {
  private static final int ADDS = 640;

  private static StandIn machine(Doorbell best) {
    StandIn machine = StandIn.start();
    if (best != Doorbell.DEDICATED) {
      machine.set("uar.dedicated", 0);
    }
    if (best == Doorbell.BLUEFLAME) {
      machine.set("uar.nc", 0);
    }
    return machine;
  }

  private static void count(Ends ends) throws InterruptedException {
    WorkRequest[] adds = new WorkRequest[64];
    for (int i = 0; i < adds.length; i++) {
      adds[i] = new WorkRequest.FetchAdd(ends.local.local(8L * i, 8), ends.remote.remote(0, 8), 1);
    }
    try (CpuLanes lanes = CpuLanes.start(2);
        Batch batch = Batch.of(ends.qp, adds)) {
      long last = -1;
      for (int n = 0; n < ADDS; n += adds.length) {
        last = lanes.submit(batch, Ends.TIMEOUT);
      }
      ends.qp.await(last, Ends.TIMEOUT);
    }
    assertEquals(ADDS, ends.remote.segment().get(JAVA_LONG, 0));
  }

  @ParameterizedTest
  @EnumSource(
      value = Doorbell.class,
      names = {"DEDICATED", "NON_CACHED", "BLUEFLAME"})
  void theBestRegisterThatTheDeviceGivesIsTaken(Doorbell best) throws Exception {
    try (Ends ends = new Ends(machine(best), QueuePairOptions.builder()).tolerating("uar")) {
      PathDetails details = ends.qp.details();
      assertEquals(best, details.doorbell());
      assertEquals(Ringer.SUBMITTER, details.ringer());
      assertEquals(QueueMemory.HOST, details.queueMemory());
      assertEquals(best == Doorbell.DEDICATED, details.why().isEmpty(), details.why());
      int kind =
          switch (best) {
            case DEDICATED -> DevxQueue.UAR_DEDICATED;
            case NON_CACHED -> DevxQueue.UAR_NONCACHED;
            default -> DevxQueue.UAR_BLUEFLAME;
          };
      assertEquals(kind, StandIn.queuePair(ends.qp.number()).uarKind());
      count(ends);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Doorbell.class,
      names = {"DEDICATED", "BLUEFLAME"})
  void aThreadRingsWhereItIsAskedTo(Doorbell best) throws Exception {
    try (Ends ends =
        new Ends(machine(best), QueuePairOptions.builder().ringer(Ringer.CPU_THREAD))
            .tolerating("uar")) {
      assertEquals(Ringer.CPU_THREAD, ends.qp.details().ringer());
      assertTrue(ends.qp.details().why().contains("as asked"), ends.qp.details().toString());
      count(ends);
      ends.qp.reset();
      ends.peer.reset();
      Ends.connect(ends.qp, ends.peer);
      ends.remote.segment().set(JAVA_LONG, 0, 0);
      count(ends);
    }
  }

  @Test
  void aDeviceWithoutRegistersIsRefusedWithTheFix() {
    try (StandIn machine = StandIn.start().set("uar.dedicated", 0).set("uar.nc", 0)) {
      machine.set("uar.bf", 0);
      org.gpuverbs.Availability direct = Ends.connectX().path(org.gpuverbs.Path.DIRECT);
      assertTrue(!direct.available() && !direct.fix().isEmpty(), direct.toString());
    }
  }

  private static QueuePairOptions onGpu(Gpu gpu, Placement placement) {
    return QueuePairOptions.builder().depth(64).gpu(gpu).placement(placement).build();
  }

  @ParameterizedTest
  @EnumSource(Placement.class)
  void aGpusQueuePairRingsByItselfWhereItGetsTheRegister(Placement placement) {
    try (StandInNic one = new StandInNic();
        Gpu gpu = Gpu.open(0)) {
      QueuePair qp = one.nic.queuePair(onGpu(gpu, placement));
      QueuePair peer = one.nic.queuePair(QueuePairOptions.defaults());
      Ends.connect(qp, peer);
      assertEquals(Ringer.SUBMITTER, qp.details().ringer());
      assertEquals(
          placement == Placement.GPU ? QueueMemory.DMA_BUF : QueueMemory.HOST,
          qp.details().queueMemory());
      assertEquals(QueuePairState.READY, qp.state());
      assertEquals(0, qp.completed());
      qp.reset();
      assertEquals(QueuePairState.RESET, qp.state());
      qp.close();
      one.nic.close();
    }
    assertEquals(0, FakeGpu.registered());
  }

  @ParameterizedTest
  @EnumSource(Placement.class)
  void aThreadRingsForAGpuThatCannotHaveTheRegister(Placement placement) {
    FakeGpu.refuseIoMemory(true);
    try (StandInNic one = new StandInNic();
        Gpu gpu = Gpu.open(0)) {
      QueuePair qp = one.nic.queuePair(onGpu(gpu, placement));
      assertEquals(Ringer.CPU_THREAD, qp.details().ringer());
      assertTrue(qp.details().why().contains("PeerMappingOverride"), qp.details().toString());
      qp.close();
      one.nic.close();
    } finally {
      FakeGpu.refuseIoMemory(false);
    }
  }

  @Test
  void aQueueInGpuMemoryGoesByPeerMemoryWithoutDmaBuf() {
    FakeGpu.refuseDmaBuf(true);
    try (StandInNic one = new StandInNic();
        Gpu gpu = Gpu.open(0)) {
      QueuePair qp = one.nic.queuePair(onGpu(gpu, Placement.GPU));
      assertEquals(QueueMemory.PEER_MEMORY, qp.details().queueMemory());
      assertTrue(!qp.details().why().isEmpty());
      qp.close();
      one.nic.close();
    } finally {
      FakeGpu.refuseDmaBuf(false);
    }
  }

  @Test
  void gpuMemoryThatCannotBeRegisteredIsNamedWithTheFix() {
    FakeGpu.refuseDmaBuf(true);
    try (StandIn machine = StandIn.start().set("peermem", 0);
        org.gpuverbs.Nic nic = org.gpuverbs.Nic.open(Ends.connectX());
        Gpu gpu = Gpu.open(0)) {
      RdmaException e =
          assertThrows(RdmaException.class, () -> nic.queuePair(onGpu(gpu, Placement.GPU)));
      assertTrue(e.hint().contains("nvidia-peermem"), e.hint());
      nic.close();
    } finally {
      FakeGpu.refuseDmaBuf(false);
    }
  }

  @Test
  void theOtherPathsHaveNoRinger() {
    try (StandInNic one = new StandInNic()) {
      IllegalArgumentException e =
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  one.nic.queuePair(
                      QueuePairOptions.builder()
                          .path(org.gpuverbs.Path.PROXY)
                          .ringer(Ringer.CPU_THREAD)
                          .build()));
      assertTrue(e.getMessage().contains("DIRECT"), e.getMessage());
    }
  }
}
