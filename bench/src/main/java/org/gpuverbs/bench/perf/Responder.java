// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import org.gpuverbs.CpuLanes;
import org.gpuverbs.Initiator;
import org.gpuverbs.LocalMemory;

/**
 * The server's part while a row runs: takes messages, and answers them in a ping-pong, until the
 * client has said how many it sent. Started and finished by the server's thread, works on its own.
 */
final class Responder implements AutoCloseable {
  private final Side side;
  private final int size;
  private final Thread thread;
  private final LocalMemory[][] where;
  private volatile long goal = Long.MAX_VALUE;
  private volatile RuntimeException failure;
  private volatile boolean stopped;
  private long taken;

  Responder(Side side, int size) {
    this.side = side;
    this.size = size;
    where = new LocalMemory[side.queuePairs.size()][];
    for (int i = 0; i < where.length; i++) {
      where[i] = new LocalMemory[] {side.in(i, side.plan.largest())};
      // Up to the queue's depth; those left from the row before count too.
      while (side.plan.test().send() && side.postReceive(i, where[i])) {
        // Until the queue is full.
      }
    }
    thread = Thread.ofPlatform().name("perf-server").daemon().start(this::work);
  }

  private void work() {
    try (Initiator initiator = CpuLanes.caller()) {
      switch (side.plan.test()) {
        case SEND_BW -> takeAll();
        case SEND_LAT -> answerSends(initiator);
        case WRITE_LAT -> answerWrites(initiator);
        default -> {}
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }

  private void takeAll() {
    while (taken < goal && !stopped) {
      int count = side.pollReceived();
      for (int i = 0; i < count; i++) {
        long bytes = side.completions.byteLength(i);
        if (bytes != size) {
          throw new PerfException("a message of " + bytes + " bytes arrived, not of " + size);
        }
        int queuePair = (int) side.completions.id(i);
        side.postReceive(queuePair, where[queuePair]);
      }
      taken += count;
      if (count == 0) {
        Thread.yield();
      }
    }
  }

  private void answerSends(Initiator initiator) {
    Movers.Sends mover = new Movers.Sends(side, initiator, side.batch(0, size, 1), size);
    while (taken < goal && !stopped) {
      if (mover.arrived()) {
        taken++;
        mover.send();
      } else {
        Thread.yield();
      }
    }
  }

  private void answerWrites(Initiator initiator) {
    Movers.Writes mover = new Movers.Writes(side, initiator, side.batch(0, size, 1), size);
    while (taken < goal && !stopped) {
      if (mover.arrived(taken + 1)) {
        taken++;
        mover.send(taken);
      } else {
        Thread.yield();
      }
    }
  }

  /** The client sent so many messages and is done: waits until they are all here. */
  void finish(long messages) {
    goal = messages;
    boolean work = side.plan.test().send() || side.plan.test().pingPong();
    try {
      thread.join(Load.PATIENCE_NANOS / 1_000_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PerfException("interrupted", e);
    }
    if (failure != null) {
      throw failure;
    }
    if (work && (thread.isAlive() || taken != messages)) {
      throw new PerfException(messages + " messages were sent, " + taken + " arrived");
    }
  }

  @Override
  public void close() {
    stopped = true;
    try {
      thread.join(Load.PATIENCE_NANOS / 1_000_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
