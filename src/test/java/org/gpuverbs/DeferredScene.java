// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;

/**
 * A pair, a sender, and numbered messages: each is a send with immediate, and the peer tells which
 * numbers have arrived.
 */
final class DeferredScene implements AutoCloseable {
  final Pair pair;
  final DeferredSender sender;
  final DeferredChannel channel;
  final ManualStream stream = new ManualStream("0");
  final ManualStream other = new ManualStream("1");
  final Batch batch;
  private final List<Integer> arrived = new ArrayList<>();
  private final Completions completions = new Completions(64);

  DeferredScene() {
    this(DeferredSender.builder());
  }

  DeferredScene(DeferredSender.Builder options) {
    this(options, QueuePairOptions.builder());
  }

  DeferredScene(DeferredSender.Builder options, QueuePairOptions.Builder queue) {
    pair = new Pair(queue);
    pair.postReceives(Pair.RECEIVES);
    sender = options.executor(Runnable::run).build();
    channel = sender.channel(1, Destination.of(pair.qp));
    batch = numbered();
  }

  Batch numbered() {
    return Batch.of(pair.qp, new WorkRequest.SendImmediate(pair.local.local(0, 8), 0));
  }

  /** The message of that number, ordered. */
  long send(int number, DeviceStream... after) {
    return send(number, SendOrder.ORDERED, after);
  }

  long send(int number, SendOrder order, DeviceStream... after) {
    batch.immediate(0, number);
    long ticket = channel.send(batch, order, after);
    assertTrue(ticket >= 0, () -> Status.describe(ticket));
    return ticket;
  }

  DeferredSend sendAsync(int number, DeviceStream... after) {
    batch.immediate(0, number);
    return channel.sendAsync(batch, SendOrder.ORDERED, after);
  }

  /** Works until there is nothing to do but wait. */
  void work() {
    while (sender.doWork() > 0) {
      Thread.onSpinWait();
    }
  }

  /** Works until the send is over. */
  long await(long ticket) {
    Await.until(
        () -> {
          work();
          return sender.poll(ticket) != Status.PENDING;
        });
    return sender.poll(ticket);
  }

  /** The numbers that have arrived, in their order. */
  List<Integer> arrived() {
    while (pair.received.poll(completions) > 0) {
      for (int i = 0; i < completions.size(); i++) {
        assertTrue(completions.hasImmediate(i));
        arrived.add(completions.immediate(i));
      }
    }
    return List.copyOf(arrived);
  }

  List<Integer> arrived(int count) {
    Await.until(() -> arrived().size() >= count);
    return arrived();
  }

  @Override
  public void close() {
    sender.close(java.time.Duration.ZERO);
    batch.close();
    pair.close();
  }
}
