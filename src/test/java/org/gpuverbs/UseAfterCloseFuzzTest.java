// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.gpuverbs.internal.queue.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Threads that use and close the same objects in any order see exceptions and sentinels: no other
 * throwable, no hang, no crash of the JVM. Runs for {@code gpuverbs.fuzz.seconds}.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class UseAfterCloseFuzzTest {
  private static final int THREADS = 4;
  private static final Duration TIME =
      Duration.ofSeconds(Integer.getInteger("gpuverbs.fuzz.seconds", 2));

  /** How many steps a scene lasts, on average, before its NIC is closed. */
  private static final int STEPS = 400;

  private final AtomicReference<FuzzScene> scene = new AtomicReference<>();
  private final AtomicLong steps = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();
  private final List<Throwable> unexpected = Collections.synchronizedList(new ArrayList<>());

  @Test
  void neitherClosedObjectsNorClosedArenasNorConcurrentCloseBreakAnything() throws Exception {
    long seed = ThreadLocalRandom.current().nextLong();
    scene.set(new FuzzScene(seed));
    long deadline = Deadline.after(TIME);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      FuzzActor actor = new FuzzActor(seed + i);
      threads.add(Thread.ofPlatform().name("fuzz-" + i).start(() -> play(actor, deadline)));
    }
    for (Thread thread : threads) {
      thread.join(TIME.plusSeconds(120));
      assertTrue(!thread.isAlive(), () -> thread + " hangs at " + at(thread));
    }
    scene.get().close();
    assertEquals(List.of(), unexpected, "seed " + seed);
    assertTrue(refusals.get() > 0, "nothing was used after close");
    assertTrue(refusals.get() < steps.get(), "nothing was used before close");
  }

  private void play(FuzzActor actor, long deadline) {
    while (!Deadline.passed(deadline) && unexpected.isEmpty()) {
      FuzzScene now = scene.get();
      steps.incrementAndGet();
      try {
        if (actor.oneIn(STEPS)) {
          now.close();
          replace(now, actor.seed());
        } else {
          actor.step(now);
        }
      } catch (IllegalStateException | RdmaException e) {
        refusals.incrementAndGet();
      } catch (Throwable e) {
        unexpected.add(e);
      }
    }
    actor.close();
  }

  private void replace(FuzzScene old, long seed) {
    if (scene.get() == old) {
      FuzzScene fresh = new FuzzScene(seed);
      if (!scene.compareAndSet(old, fresh)) {
        fresh.close();
      }
    }
  }

  private static String at(Thread thread) {
    return List.of(thread.getStackTrace()).toString();
  }
}
