// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several threads send and cancel while one works. */
@Timeout(60)
class ManyThreadsTest {
  private static final int THREADS = 3;
  private static final int SENDS = 20_000;

  /** Counts how often each stage of each send was told. */
  private static final class Told implements SendListener {
    final AtomicIntegerArray counts = new AtomicIntegerArray(4);

    @Override
    public void released() {
      counts.incrementAndGet(0);
    }

    @Override
    public void delivered() {
      counts.incrementAndGet(1);
    }

    @Override
    public void failed(int code, Throwable cause, boolean afterRelease) {
      counts.incrementAndGet(2);
    }

    @Override
    public void sourceReusable(Throwable cause) {
      counts.incrementAndGet(3);
    }

    String all() {
      return counts.toString();
    }
  }

  @Test
  void nothingIsLostDoubledOrOutOfOrder() throws InterruptedException {
    FakeSender sender = new FakeSender(256);
    FakeOutlet outlet = new FakeOutlet(Status.CLOSED);
    FakePort port = new FakePort(outlet);
    List<List<Told>> told = new ArrayList<>();
    AtomicInteger cancelled = new AtomicInteger();
    AtomicInteger running = new AtomicInteger(THREADS);
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      int thread = t;
      List<Told> mine = new ArrayList<>();
      told.add(mine);
      threads.add(
          Thread.ofPlatform()
              .unstarted(
                  () -> {
                    Flow flow = new Flow(port);
                    FakeStream stream = new FakeStream();
                    for (int i = 0; i < SENDS; ) {
                      stream.enqueued++;
                      Told listener = new Told();
                      long ticket =
                          sender.send(flow, true, thread * SENDS + i, List.of(stream), listener);
                      if (ticket >= 0) {
                        mine.add(listener);
                        i++;
                        if (i % 7 == 0 && sender.queue.cancel(ticket)) {
                          cancelled.incrementAndGet();
                        }
                      }
                      stream.completed = stream.enqueued;
                    }
                    running.decrementAndGet();
                  }));
    }
    threads.forEach(Thread::start);
    while (running.get() > 0 || sender.queue.underWay() > 0) {
      outlet.completed = outlet.log.size();
      if (sender.queue.work(64) == 0) {
        Thread.yield();
      }
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(THREADS * SENDS, outlet.log.size() + cancelled.get());
    for (int t = 0; t < THREADS; t++) {
      int thread = t;
      List<Integer> mine = outlet.log.stream().filter(number -> number / SENDS == thread).toList();
      assertEquals(mine.stream().sorted().toList(), mine);
      for (Told one : told.get(t)) {
        String all = one.all();
        assertTrue(all.equals("[1, 1, 0, 1]") || all.equals("[0, 0, 1, 1]"), all);
      }
    }
    assertEquals(0, sender.queue.counters().waiting());
  }

  @Test
  void oneStreamMayBeMarkedByManyThreads() {
    // What a slow thread has marked earlier comes later; the stream's order counts.
    EventLines lines = new EventLines();
    FakeStream stream = new FakeStream();
    stream.enqueued = 9;
    List<Long> over = new ArrayList<>();
    for (long mark : new long[] {5, 2, 9, 1, 7, 3}) {
      lines.add(stream, mark, (events, result) -> over.add(mark));
    }
    for (long done = 1; done <= 9; done++) {
      stream.completed = done;
      while (lines.poll(1) > 0) {
        assertTrue(over.getLast() <= done);
      }
    }
    assertEquals(List.of(1L, 2L, 3L, 5L, 7L, 9L), over);
  }
}
