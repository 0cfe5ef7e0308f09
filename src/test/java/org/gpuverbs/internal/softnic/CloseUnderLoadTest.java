// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.junit.jupiter.api.Test;

/** Whatever is closed while traffic runs, the NIC survives and the other side learns of it. */
class CloseUnderLoadTest {
  /** Posts WRITEs into the peer as fast as credit allows, until told to stop. */
  private static final class Load implements AutoCloseable {
    final AtomicBoolean stop = new AtomicBoolean();
    final AtomicReference<Throwable> failure = new AtomicReference<>();
    final Thread thread;

    Load(Side side, SoftMr local, SoftMr remote) {
      thread =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    try {
                      post(side, local, remote);
                    } catch (Throwable e) {
                      failure.set(e);
                    }
                  });
    }

    private void post(Side side, SoftMr local, SoftMr remote) {
      while (!stop.get()) {
        long index = 0;
        for (int i = 0; i < 32; i++) {
          index =
              side.post(
                  WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE)
                      .signalled()
                      .remote(remote, 0)
                      .data(local, 0, 4096));
        }
        side.ring();
        long last = index;
        Await.until("credit", () -> stop.get() || side.completed(last));
      }
    }

    /** Until traffic has been running for a while. */
    void run(SoftQp qp) {
      long before = qp.wqes();
      Await.until("traffic", () -> qp.wqes() > before + 100);
    }

    void stop() {
      stop.set(true);
      Await.until("the load to end", () -> !thread.isAlive());
      assertNull(failure.get());
    }

    @Override
    public void close() {
      stop();
    }
  }

  @Test
  void arenasMayBeClosedUnderTraffic() {
    for (int i = 0; i < 30; i++) {
      boolean local = i % 2 == 0;
      try (Pair pair = new Pair()) {
        Arena arena = Arena.ofShared();
        Side owner = local ? pair.a : pair.b;
        SoftMr mr = owner.nic.register(arena.allocate(4096), SoftMr.ALL_ACCESS);
        try (Load load = new Load(pair.a, local ? mr : pair.a.mr, local ? pair.b.mr : mr)) {
          load.run(pair.a.qp);
          arena.close();
          Await.until("the error", () -> pair.a.qp.state() == SoftState.ERROR);
        }
        assertEquals(
            local ? Syndrome.LOCAL_PROTECTION : Syndrome.REMOTE_ACCESS,
            Completion.read(pair.a.memory.cqe, 0).syndrome());
      }
    }
  }

  @Test
  void regionsMayBeClosedUnderTraffic() {
    for (int i = 0; i < 30; i++) {
      try (Pair pair = new Pair();
          Load load = new Load(pair.a, pair.a.mr, pair.b.mr)) {
        load.run(pair.a.qp);
        pair.b.mr.close();
        // From here on nobody writes there.
        pair.b.word(0, 0x77);
        Await.until("the error", () -> pair.a.qp.state() == SoftState.ERROR);
        assertEquals(0x77, pair.b.word(0));
      }
    }
  }

  /** A pair whose sides soon notice that the other one is gone. */
  private static Pair impatient() {
    Pair pair = new Pair(SoftNicConfig.defaults(), Side.DEPTH, Side.DEPTH);
    pair.connect(0, SoftRemote.RNR_RETRY_FOREVER, Duration.ofMillis(20));
    return pair;
  }

  @Test
  void queuePairsMayBeClosedUnderTraffic() {
    for (int i = 0; i < 30; i++) {
      try (Pair pair = impatient();
          Load load = new Load(pair.a, pair.a.mr, pair.b.mr)) {
        load.run(pair.a.qp);
        SoftQp closed = i % 2 == 0 ? pair.a.qp : pair.b.qp;
        closed.close();
        long wqes = pair.a.qp.wqes();
        if (closed == pair.a.qp) {
          load.stop();
          assertEquals(wqes, pair.a.qp.wqes());
        } else {
          Await.until("the retries to end", () -> pair.a.qp.state() == SoftState.ERROR);
        }
      }
    }
  }

  @Test
  void queuePairsMayBeResetUnderTraffic() {
    try (Pair pair = new Pair()) {
      for (int i = 0; i < 50; i++) {
        try (Load load = new Load(pair.a, pair.a.mr, pair.b.mr)) {
          load.run(pair.a.qp);
          pair.a.qp.reset();
        }
        pair.a.reset();
        pair.b.reset();
        pair.connect();
      }
      assertEquals(SoftState.READY, pair.a.qp.state());
    }
  }

  @Test
  void nicsMayBeClosedUnderTraffic() {
    for (int i = 0; i < 30; i++) {
      try (Pair pair = new Pair();
          Load load = new Load(pair.a, pair.a.mr, pair.b.mr)) {
        load.run(pair.a.qp);
        (i % 2 == 0 ? pair.nicA : pair.nicB).close();
        assertTrue(i % 2 == 1 || pair.a.qp.state() == SoftState.CLOSED);
      }
    }
  }
}
