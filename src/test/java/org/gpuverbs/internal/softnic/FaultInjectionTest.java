// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The test hook: drop, fail or delay the n-th WQE of a QP. */
class FaultInjectionTest {
  private Pair pair;

  private void third(Fault fault) {
    pair =
        new Pair(
            SoftNicConfig.defaults()
                .withFaults((qpn, ordinal, opcode) -> ordinal == 2 ? fault : Fault.NONE),
            false);
    for (int i = 0; i < 5; i++) {
      pair.a.word(8L * i, i + 1);
      pair.a.post(
          WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE)
              .signalled()
              .remote(pair.b.mr, 8L * i)
              .data(pair.a.mr, 8L * i, 8));
    }
  }

  @AfterEach
  void close() {
    pair.close();
  }

  @Test
  void aDroppedWqeHasNoEffect() {
    third(new Fault.Drop());
    pair.a.ring();
    pair.a.await(4);
    assertEquals(2, pair.b.word(8));
    assertEquals(0, pair.b.word(16));
    assertEquals(4, pair.b.word(24));
  }

  @Test
  void aFailedWqeHasNoEffectAndEndsTheQueuePair() {
    third(new Fault.Fail(Syndrome.REMOTE_OPERATION));
    pair.a.ring();
    Completion cqe = pair.a.await(4);
    assertEquals(Syndrome.REMOTE_OPERATION, cqe.syndrome());
    assertEquals(VendorSyndrome.INJECTED, cqe.vendor());
    assertEquals(2, cqe.wqeCounter());
    assertEquals(2, pair.b.word(8));
    assertEquals(0, pair.b.word(16));
    assertEquals(0, pair.b.word(24));
  }

  @Test
  void aDelayedWqeComesLater() {
    Duration delay = Duration.ofMillis(100);
    third(new Fault.Delay(delay));
    long start = System.nanoTime();
    pair.a.ring();
    pair.a.await(1);
    pair.a.await(4);
    assertTrue(System.nanoTime() - start >= delay.toNanos());
    assertEquals(3, pair.b.word(16));
    assertEquals(5, pair.b.word(32));
  }

  @Test
  void theHookIsAskedOnceAWqe() {
    List<Long> asked = new CopyOnWriteArrayList<>();
    pair =
        new Pair(
            SoftNicConfig.defaults()
                .withFaults(
                    (qpn, ordinal, opcode) -> {
                      asked.add(ordinal);
                      return ordinal == 1 ? new Fault.Delay(Duration.ofMillis(5)) : Fault.NONE;
                    }),
            false);
    pair.b.qp.reset();
    pair.a.post(WqeBytes.of(Mlx5.OPCODE_NOP));
    pair.a.post(WqeBytes.of(Mlx5.OPCODE_NOP));
    // Stalls for want of a peer, tried many times.
    pair.a.post(WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).remote(pair.b.mr, 0).data(pair.a.mr, 0, 8));
    pair.a.ring();
    Await.until("the write to fail", () -> pair.a.qp.state() == SoftState.ERROR);
    assertEquals(List.of(0L, 1L, 2L), asked);
  }

  @Test
  void aHookThatThrowsEndsTheQueuePairAndNotTheNic() {
    pair =
        new Pair(
            SoftNicConfig.defaults()
                .withFaults(
                    (qpn, ordinal, opcode) -> {
                      if (opcode == Mlx5.OPCODE_NOP) {
                        throw new IllegalStateException("thrown by the test's hook");
                      }
                      return Fault.NONE;
                    }),
            false);
    Side c = new Side(pair.nicA, pair.arena, false);
    Side d = new Side(pair.nicB, pair.arena, false);
    Pair.connect(c, d);
    Completion cqe = pair.a.execute(WqeBytes.of(Mlx5.OPCODE_NOP).signalled());
    assertEquals(VendorSyndrome.INTERNAL, cqe.vendor());
    assertEquals(
        Mlx5.CQE_REQ,
        c.execute(WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE).signalled().remote(d.mr, 0).data(c.mr, 0, 8))
            .opcode());
    assertFalse(c.qp.state() == SoftState.ERROR);
  }
}
