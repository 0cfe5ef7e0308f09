// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class OneThreadTest {
  private final OneThread thread = new OneThread("this object");

  @Test
  void aSecondCallIsRefusedByName() {
    thread.enter();
    IllegalStateException e = assertThrows(IllegalStateException.class, thread::enter);
    assertTrue(e.getMessage().contains("this object serves one thread at a time"), e.getMessage());
    assertFalse(thread.tryEnter());
    thread.exit();
    thread.enter();
  }

  @Test
  void nobodyInsideNeedsNoWait() {
    assertTrue(thread.awaitExit(null, Deadline.after(Duration.ZERO)));
  }

  @Test
  void whoIsInsideIsWaitedFor() {
    thread.enter();
    assertFalse(thread.awaitExit(null, Deadline.after(Duration.ofMillis(2))));
    thread.exit();
    assertTrue(thread.awaitExit(null, Deadline.after(Duration.ZERO)));
  }

  @Test
  void oneWhoCameForSomethingElseIsNotWaitedFor() {
    thread.enter("this");
    assertTrue(thread.awaitExit("that", Deadline.after(Duration.ZERO)));
    assertFalse(thread.awaitExit("this", Deadline.after(Duration.ofMillis(2))));
    assertFalse(thread.awaitExit(null, Deadline.after(Duration.ofMillis(2))));
    thread.exit();
    assertTrue(thread.awaitExit("this", Deadline.after(Duration.ZERO)));
  }

  @Test
  @Timeout(60)
  void oneWhoEntersLaterIsNotWaitedFor() throws Exception {
    thread.enter();
    FutureTask<Boolean> wait =
        new FutureTask<>(() -> thread.awaitExit(null, Deadline.after(Duration.ofSeconds(10))));
    Thread waiter = Thread.ofPlatform().daemon().start(wait);
    while (waiter.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    // Out and in again: the one that is inside from now on never leaves.
    thread.exit();
    thread.enter();
    assertTrue(wait.get(30, TimeUnit.SECONDS));
  }
}
