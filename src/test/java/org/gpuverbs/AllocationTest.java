// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** The calls that promise to allocate nothing, once compiled. */
class AllocationTest {
  private static final int WARM_UP = 20_000;
  private static final int CALLS = 50_000;

  /** By reflection, since the library's module does not read jdk.management. */
  private static long allocatedBytes() {
    try {
      Class<?> factory = Class.forName("java.lang.management.ManagementFactory");
      Method bytes =
          Class.forName("com.sun.management.ThreadMXBean")
              .getMethod("getCurrentThreadAllocatedBytes");
      return (long) bytes.invoke(factory.getMethod("getThreadMXBean").invoke(null));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  static void assertAllocatesNothing(Runnable call) {
    double best = Double.MAX_VALUE;
    // The compiler may finish late: the best of some rounds is what the call costs.
    for (int round = 0; round < 5 && best >= 1; round++) {
      for (int i = 0; i < WARM_UP; i++) {
        call.run();
      }
      long before = allocatedBytes();
      for (int i = 0; i < CALLS; i++) {
        call.run();
      }
      best = Math.min(best, (allocatedBytes() - before) / (double) CALLS);
    }
    double bytes = best;
    assertTrue(bytes < 1, () -> bytes + " bytes a call");
  }

  private static void submitAndDrain(Initiator initiator, Batch batch) {
    long ticket;
    do {
      ticket = initiator.submit(batch);
    } while (ticket == Status.FULL || ticket == Status.BUSY);
    if (ticket < 0) {
      throw new AssertionError(Status.describe(ticket));
    }
    initiator.poll(ticket);
  }

  @Test
  void submitAndPollOfTheCallersThread() {
    try (Pair pair = new Pair();
        Batch batch =
            Batch.of(pair.qp, Batch.Signal.LAST, Collections.nCopies(4, pair.write(0, 64)))) {
      assertAllocatesNothing(() -> submitAndDrain(pair.caller, batch));
      assertEquals(QueuePairState.READY, pair.qp.state());
    }
  }

  @Test
  void submitAndPollOfLaneThreads() {
    try (Pair pair = new Pair();
        CpuLanes lanes = CpuLanes.start(1);
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop())) {
      assertAllocatesNothing(() -> submitAndDrain(lanes, batch));
    }
  }

  @Test
  void changesInPlace() {
    try (Pair pair = new Pair();
        Batch batch =
            Batch.of(
                pair.qp,
                new WorkRequest.WriteImmediate(pair.local.local(0, 8), pair.remote.remote(), 0))) {
      long[] i = {0};
      assertAllocatesNothing(
          () -> {
            long offset = i[0]++ & 0xff8;
            batch.remoteAddress(0, pair.remote.address() + offset);
            batch.localAddress(0, 0, pair.local.address() + offset);
            batch.length(0, 0, offset);
            batch.immediate(0, (int) offset);
          });
    }
  }

  @Test
  void receivesAndTheirCompletions() throws InterruptedException {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, pair.send(8))) {
      Completions completions = new Completions(16);
      LocalMemory[] where = {pair.remote.local(0, 64)};
      assertAllocatesNothing(
          () -> {
            pair.peer.postReceive(1, where);
            submitAndDrain(pair.caller, batch);
            while (pair.received.poll(completions) == 0) {
              Thread.yield();
            }
          });
    }
  }

  @Test
  void deferredSendsWithTickets() {
    try (Pair pair = new Pair();
        DeferredSender sender = DeferredSender.builder().capacity(64).build();
        Batch batch = Batch.of(pair.qp, pair.write(0, 64))) {
      DeferredChannel channel = sender.channel(1, Destination.of(pair.qp));
      ManualStream stream = new ManualStream("0");
      ManualStream other = new ManualStream("1");
      DeviceStream[] both = {stream, other};
      assertAllocatesNothing(
          () -> {
            stream.work();
            long joined = channel.send(batch, SendOrder.ORDERED, both);
            long deferred = channel.send(batch, SendOrder.UNORDERED, stream);
            long behind = channel.send(batch, SendOrder.ORDERED);
            sender.cancel(deferred);
            stream.complete();
            while (sender.poll(behind) == Status.PENDING) {
              sender.doWork();
            }
            long inline = channel.send(batch, SendOrder.ORDERED, stream);
            while (sender.poll(inline) == Status.PENDING) {
              sender.doWork();
            }
            if (sender.poll(joined) != Status.DONE) {
              throw new AssertionError(Status.describe(sender.poll(joined)));
            }
          });
    }
  }
}
