// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.gpuverbs.internal.wire.Mlx5;
import org.junit.jupiter.api.Test;

/** Closing returns only when no NIC thread is inside a pass that may use what was closed. */
class QuiesceTest {
  private final CountDownLatch inside = new CountDownLatch(1);
  private final CountDownLatch leave = new CountDownLatch(1);

  /** Holds the NIC thread inside a pass over QP a while {@code close} runs on another thread. */
  private void closeWaitsForThePass(Function<Pair, Runnable> close) throws InterruptedException {
    SoftNicConfig held = SoftNicConfig.defaults().withFaults((qpn, ordinal, opcode) -> hold());
    try (Pair pair = new Pair(held, false)) {
      Runnable closing = close.apply(pair);
      pair.a.send(WqeBytes.of(Mlx5.OPCODE_NOP));
      inside.await(20, TimeUnit.SECONDS);
      AtomicBoolean returned = new AtomicBoolean();
      Thread closer =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    closing.run();
                    returned.set(true);
                  });
      // A close that doesn't wait takes microseconds.
      closer.join(100);
      assertFalse(returned.get());
      leave.countDown();
      Await.until("the close to return", returned::get);
    }
  }

  private Fault hold() {
    inside.countDown();
    try {
      leave.await(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Fault.NONE;
  }

  @Test
  void closingARegionWaits() throws InterruptedException {
    closeWaitsForThePass(pair -> pair.a.mr::close);
  }

  @Test
  void closingAPeersRegionWaits() throws InterruptedException {
    closeWaitsForThePass(pair -> pair.b.mr::close);
  }

  @Test
  void closingTheQueuePairWaits() throws InterruptedException {
    closeWaitsForThePass(pair -> pair.a.qp::close);
  }

  @Test
  void closingAnotherQueuePairOfTheThreadWaits() throws InterruptedException {
    closeWaitsForThePass(
        pair -> {
          Side other = new Side(pair.nicA, pair.arena, false);
          other.qp.connect(new SoftRemote(pair.nicB.guid(), 2, 0, 0));
          return other.qp::close;
        });
  }

  @Test
  void resettingAnotherQueuePairOfTheThreadWaits() throws InterruptedException {
    closeWaitsForThePass(
        pair -> {
          Side other = new Side(pair.nicA, pair.arena, false);
          other.qp.connect(new SoftRemote(pair.nicB.guid(), 2, 0, 0));
          return other.qp::reset;
        });
  }

  @Test
  void closingTheNicWaits() throws InterruptedException {
    closeWaitsForThePass(pair -> pair.nicA::close);
  }
}
