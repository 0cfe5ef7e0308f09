// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Random;

/** One thread of {@link UseAfterCloseFuzzTest}: does one random thing to a scene at a time. */
final class FuzzActor implements AutoCloseable {
  private static final Duration SHORT = Duration.ofMillis(1);

  private final Random random;
  private final CpuLanes caller = CpuLanes.caller();
  private final Completions completions = new Completions(16);
  private long ticket;

  FuzzActor(long seed) {
    random = new Random(seed);
  }

  boolean oneIn(int n) {
    return random.nextInt(n) == 0;
  }

  long seed() {
    return random.nextLong();
  }

  void step(FuzzScene scene) throws InterruptedException {
    if (oneIn(40)) {
      closeSomething(scene);
      return;
    }
    QueuePair qp = FuzzScene.any(scene.queuePairs, random);
    Batch batch = FuzzScene.any(scene.batches, random);
    MemoryRegion region = FuzzScene.any(scene.regions, random);
    switch (random.nextInt(12)) {
      case 0, 1 -> ticket = caller.submit(batch);
      case 2, 3 -> ticket = scene.lanes.submit(batch);
      case 4 -> qp.poll(ticket);
      case 5 -> qp.await(ticket, SHORT);
      case 6 -> {
        try (Batch fresh = Batch.of(qp, scene.requests(random))) {
          ticket = caller.submit(fresh, SHORT);
        }
      }
      case 7 -> qp.postReceive(ticket, region.local(0, 64));
      case 8 -> scene.received.poll(completions);
      case 9 -> region.segment().set(ValueLayout.JAVA_LONG, 8 * random.nextInt(64), ticket);
      case 10 -> scene.lanes.submitAsync(batch, scene.progress, Runnable::run);
      default -> look(scene, qp, region);
    }
  }

  private void look(FuzzScene scene, QueuePair qp, MemoryRegion region)
      throws InterruptedException {
    switch (random.nextInt(6)) {
      case 0 -> scene.progress.doWork();
      case 1 -> qp.counters();
      case 2 -> qp.completed();
      case 3 -> qp.errorSyndrome();
      case 4 -> SignalWait.untilEqual(region, 0, -1, SHORT);
      default -> qp.address();
    }
  }

  private void closeSomething(FuzzScene scene) {
    switch (random.nextInt(8)) {
      case 0 -> FuzzScene.any(scene.batches, random).close();
      case 1 -> FuzzScene.any(scene.regions, random).close();
      case 2 -> scene.arena.close();
      case 3 -> scene.lanes.close();
      case 4 -> scene.received.close();
      case 5 -> scene.progress.close();
      case 6 -> FuzzScene.any(scene.queuePairs, random).reset();
      default -> FuzzScene.any(scene.queuePairs, random).close();
    }
  }

  @Override
  public void close() {
    caller.close();
  }
}
