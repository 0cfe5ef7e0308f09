// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Deferred sends that the producing stream submits. */
@GpuTest
class DeferredInStreamTest {
  private final Gpu gpu = Gpu.open(0);
  private final GpuStream stream = GpuStream.open(gpu);
  private final DeferredSender sender =
      DeferredSender.builder().initiator(stream).executor(Runnable::run).build();

  @AfterEach
  void close() {
    sender.close(Duration.ZERO);
    stream.close();
    gpu.close();
  }

  private GpuPair pair(QueuePairOptions.Builder options) {
    return new GpuPair(gpu, Payload.Kind.PINNED, options);
  }

  private DeferredChannel channel(GpuPair pair) {
    return sender.channel(1, Destination.of(pair.qp));
  }

  private long await(long ticket) {
    Await.until(
        () -> {
          sender.doWork();
          return sender.poll(ticket) != Status.PENDING;
        });
    return sender.poll(ticket);
  }

  @Test
  void aSendAfterTheSubmittingStreamIsReleasedInTheCallAndDelivered() throws Exception {
    try (GpuPair pair = pair(QueuePairOptions.builder());
        Batch batch = Batch.of(pair.qp, pair.write(0, 64, 8))) {
      pair.local.setLong(0, 42);
      DeferredSend send =
          channel(pair).sendAsync(batch, SendOrder.ORDERED, DeviceStream.of(stream));
      assertTrue(Failures.done(send.released()));
      assertFalse(send.cancel());
      assertEquals(1, sender.metrics().inline());
      assertEquals(Status.DONE, await(send.ticket()));
      assertTrue(Failures.done(send.sourceReusable()));
      assertEquals(42, pair.remote.getLong(64));
    }
  }

  @Test
  void theBatchMayBeChangedAtOnce() {
    try (GpuPair pair = pair(QueuePairOptions.builder());
        Batch batch =
            Batch.of(
                pair.qp,
                new WorkRequest.FetchAdd(
                    pair.local.region.local(0, 8), pair.remote.region.remote(), 1))) {
      DeferredChannel channel = channel(pair);
      long last = 0;
      for (int i = 0; i < 8; i++) {
        batch.remoteAddress(0, pair.remote.region.address() + 8L * i);
        last = channel.send(batch, SendOrder.ORDERED, DeviceStream.of(stream));
      }
      batch.close();
      assertEquals(Status.DONE, await(last));
      for (int i = 0; i < 8; i++) {
        assertEquals(1, pair.remote.getLong(8 * i));
      }
    }
  }

  @Test
  void aSendThatWaitsForSomethingElseTooKeepsTheOrder() {
    ManualStream other = new ManualStream("other");
    try (GpuPair pair = pair(QueuePairOptions.builder());
        Batch first = Batch.of(pair.qp, pair.write(0, 64, 8));
        Batch second = Batch.of(pair.qp, pair.write(8, 64, 8))) {
      pair.local.setLong(0, 1);
      pair.local.setLong(8, 2);
      DeferredChannel channel = channel(pair);
      DeviceStream own = DeviceStream.of(stream);
      long joined = channel.send(first, SendOrder.ORDERED, own, other.work());
      long behind = channel.send(second, SendOrder.ORDERED, own);
      sender.doWork();
      assertEquals(SendState.WAITING, sender.state(joined));
      assertEquals(SendState.WAITING, sender.state(behind));
      other.complete();
      assertEquals(Status.DONE, await(behind));
      assertEquals(2, pair.remote.getLong(64));
    }
  }

  @Test
  void aFullRingMakesTheSendWaitAndNotTheStream() {
    QueuePairOptions.Builder options = QueuePairOptions.builder().depth(64);
    try (Nic nic = Nic.open();
        QueuePair lonely = nic.queuePair(options.gpu(gpu).build());
        QueuePair peer = nic.queuePair(QueuePairOptions.defaults())) {
      // The peer is not connected back yet, so that nothing completes.
      lonely.connect(peer.address());
      MemoryRegion memory = nic.allocate(64, Access.values());
      WorkRequest write = new WorkRequest.Write(memory.local(), memory.remote());
      DeferredChannel channel = sender.channel(1, Destination.of(lonely));
      try (Batch batch = Batch.of(lonely, Batch.Signal.LAST, Collections.nCopies(40, write))) {
        long first = channel.send(batch, SendOrder.ORDERED, DeviceStream.of(stream));
        long second = channel.send(batch, SendOrder.ORDERED, DeviceStream.of(stream));
        assertEquals(SendState.RELEASED, sender.state(first));
        assertEquals(SendState.WAITING, sender.state(second));
        peer.connect(lonely.address());
        assertEquals(Status.DONE, await(second));
        assertEquals(Status.DONE, await(first));
      }
    }
  }

  @Test
  void aQueuePairOfTheCpuIsRefused() {
    try (Pair pair = new Pair();
        Batch batch = Batch.of(pair.qp, new WorkRequest.Nop())) {
      DeferredChannel channel = sender.channel(1, Destination.of(pair.qp));
      assertThrows(IllegalStateException.class, () -> channel.send(batch, SendOrder.ORDERED));
      assertEquals(0, sender.pending());
    }
  }

  @Test
  void streamsOfAGpuThatIsClosedHaveFailed() {
    Gpu second = Gpu.open(0);
    DeviceStream late;
    try (GpuStream own = GpuStream.open(second)) {
      late = DeviceStream.of(own);
    }
    second.close();
    try (DeviceCompletions completions = DeviceCompletions.create(Runnable::run)) {
      RdmaException e = Failures.of(completions.after(late));
      assertEquals(Status.DEVICE_ERROR, e.code());
      assertTrue(e.getMessage().contains("closed"), e::toString);
    }
  }

  @Test
  void ticketsCostNoGarbage() {
    try (GpuPair pair = pair(QueuePairOptions.builder());
        Batch batch = Batch.of(pair.qp, pair.write(0, 0, 64))) {
      DeferredChannel channel = channel(pair);
      DeviceStream own = DeviceStream.of(stream);
      AllocationTest.assertAllocatesNothing(
          () -> {
            long ticket = channel.send(batch, SendOrder.ORDERED, own);
            while (sender.poll(ticket) == Status.PENDING) {
              sender.doWork();
            }
          });
    }
  }
}
