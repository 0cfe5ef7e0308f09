// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A pass costs what is ready, not what is pending. */
class PollCostTest {
  private static final int STREAMS = 10;
  private static final int PENDING = 100_000;

  private final FakeSender sender = new FakeSender(PENDING);
  private final FakeStream[] streams = new FakeStream[STREAMS];
  private final FakeOutlet outlet = new FakeOutlet(Status.CLOSED);

  PollCostTest() {
    for (int i = 0; i < STREAMS; i++) {
      streams[i] = new FakeStream();
    }
    Flow flow = new Flow(new FakePort(outlet));
    for (int i = 0; i < PENDING; i++) {
      FakeStream stream = streams[i % STREAMS];
      stream.enqueued++;
      assertTrue(sender.send(flow, false, i, List.of(stream)) >= 0);
    }
    sender.queue.work(PENDING);
    queries();
  }

  /** Since the last call. */
  private long queries() {
    long sum = 0;
    for (FakeStream stream : streams) {
      sum += stream.queries;
      stream.queries = 0;
    }
    return sum;
  }

  @Test
  void aPassOverManyPendingSendsAsksOnceAStream() {
    assertEquals(PENDING, sender.queue.underWay());
    assertEquals(0, sender.queue.work(PENDING));
    assertEquals(STREAMS, queries());
  }

  @Test
  void aPassAsksOnceMoreForEachSendThatIsReady() {
    for (int ready = 1; ready <= 64; ready *= 2) {
      streams[3].completed += ready;
      sender.queue.work(PENDING);
      assertEquals(STREAMS + ready, queries());
      outlet.completed = outlet.log.size();
      sender.queue.work(PENDING);
      queries();
    }
    assertEquals(127, outlet.log.size());
  }

  @Test
  void aPassDoesNoMoreThanItIsAskedFor() {
    for (FakeStream stream : streams) {
      stream.completed = stream.enqueued;
    }
    sender.queue.work(100);
    assertEquals(100, queries());
    assertEquals(100, outlet.log.size());
  }
}
