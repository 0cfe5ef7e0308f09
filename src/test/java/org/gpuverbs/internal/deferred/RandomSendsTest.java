// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import org.gpuverbs.internal.deferred.PlainModel.Message;

/**
 * Random streams, sends, completions, cancels, errors, full and moving destinations: after each
 * step the queue must agree with a plain model about every send, and every outlet must have got
 * each flow's ordered sends in the order of their calls.
 */
class RandomSendsTest {
  private static final int ERROR = -3;
  private static final int STREAMS = 4;
  private static final int FLOWS = 5;
  private static final int OUTLETS = 3;
  private static final int STEPS = 120;

  private final class Run {
    final Random random;
    final FakeSender sender;
    final FakeStream[] streams = new FakeStream[STREAMS];
    final FakeOutlet[] outlets = new FakeOutlet[OUTLETS];
    final FakePort[] ports = new FakePort[FLOWS];
    final Flow[] flows = new Flow[FLOWS];
    final PlainModel model = new PlainModel(FLOWS);
    final Map<Message, Long> tickets = new HashMap<>();

    /** For so many steps another thread is inside the queue; then for so many nobody works. */
    int held;

    int late;

    Run(long seed, int capacity) {
      random = new Random(seed);
      sender = new FakeSender(capacity);
      for (int i = 0; i < STREAMS; i++) {
        streams[i] = new FakeStream();
      }
      for (int i = 0; i < OUTLETS; i++) {
        outlets[i] = new FakeOutlet(ERROR);
      }
      FakePort shared = new FakePort(outlets[0]);
      for (int i = 0; i < FLOWS; i++) {
        // Two sources share a destination.
        ports[i] = i < 2 ? shared : new FakePort(outlets[i % OUTLETS]);
        flows[i] = new Flow(ports[i]);
      }
    }

    void go() {
      for (int step = 0; step < STEPS; step++) {
        step(random.nextInt(100));
        if (held > 0) {
          if (--held == 0) {
            sender.queue.exit();
            late = random.nextInt(4);
          }
        } else if (late > 0) {
          late--;
        }
        if (quiet()) {
          sender.work();
          check();
        }
      }
      if (held > 0) {
        sender.queue.exit();
      }
      sender.work();
      check();
      finish();
    }

    private boolean quiet() {
      return held == 0 && late == 0;
    }

    private FakeStream stream() {
      return streams[random.nextInt(STREAMS)];
    }

    private void step(int dice) {
      if (dice < 40) {
        send();
      } else if (dice < 52) {
        stream().enqueued++;
      } else if (dice < 70) {
        FakeStream s = stream();
        if (s.completed + 1 < Math.min(s.enqueued + 1, s.failedAt)) {
          s.completed++;
        }
      } else if (dice < 72) {
        FakeStream s = stream();
        if (s.failedAt == Long.MAX_VALUE && random.nextInt(3) == 0) {
          s.fail();
        }
      } else if (dice < 78) {
        cancel();
      } else if (dice < 84) {
        FakeOutlet o = outlets[random.nextInt(OUTLETS)];
        // Not between a send's call and the model's look at it.
        o.full ^= late == 0;
      } else if (dice < 92) {
        FakeOutlet o = outlets[random.nextInt(OUTLETS)];
        if (o.failedFrom == Long.MAX_VALUE && o.inFlight() > 0) {
          o.completed += 1 + random.nextInt(o.inFlight());
        }
      } else if (dice < 93) {
        FakeOutlet o = outlets[random.nextInt(OUTLETS)];
        if (quiet() && o.failedFrom == Long.MAX_VALUE && random.nextInt(3) == 0) {
          o.failedFrom = o.completed;
        }
      } else if (dice < 96) {
        if (quiet()) {
          int next = random.nextInt(OUTLETS + 1);
          ports[random.nextInt(FLOWS)].outlet = next == OUTLETS ? null : outlets[next];
        }
      } else if (dice < 98) {
        reset();
      } else if (quiet() && sender.queue.tryEnter()) {
        // Another thread is working for a while: sends and cancels have to be left for later.
        held = 1 + random.nextInt(6);
      }
    }

    private void send() {
      int flow = random.nextInt(FLOWS);
      boolean ordered = random.nextInt(4) != 0;
      int number = model.messages.size();
      List<FakeStream> after =
          IntStream.range(0, STREAMS)
              .filter(i -> random.nextInt(4) == 0)
              .mapToObj(i -> streams[i])
              .toList();
      long ticket = sender.send(flows[flow], ordered, number, after);
      boolean dead = after.stream().anyMatch(s -> s.idle() < 0);
      if (dead || ordered && flows[flow].failed()) {
        assertTrue(ticket < 0, "a send that can't succeed was taken");
        return;
      }
      if (ticket < 0) {
        return;
      }
      Message message = new Message(number, flow, ordered);
      after.forEach(s -> message.needs.put(s, s.enqueued));
      model.add(message);
      tickets.put(message, ticket);
    }

    private void cancel() {
      if (model.messages.isEmpty()) {
        return;
      }
      Message m = model.messages.get(random.nextInt(model.messages.size()));
      boolean done = sender.queue.cancel(ticket(m));
      if (quiet()) {
        assertEquals(m.waiting(), done, () -> "cancel of " + m.number);
      }
      if (done) {
        model.cancel(m);
      }
    }

    private void reset() {
      int flow = random.nextInt(FLOWS);
      if (quiet()) {
        boolean done = sender.queue.reset(flows[flow]);
        assertEquals(model.canReset(flow), done);
        model.failed[flow] &= !done;
      }
    }

    private long ticket(Message m) {
      return tickets.getOrDefault(m, -1L);
    }

    private void check() {
      model.settle(ports, ERROR);
      for (Message m : model.messages) {
        long ticket = ticket(m);
        int got = sender.queue.poll(ticket);
        assertTrue(
            got == m.result
                || got == Status.EXPIRED && m.result != Status.PENDING
                || model.mayBe(m, got),
            () -> "send " + m.number + ": " + got + " instead of " + m.result);
        if (m.result == Status.PENDING) {
          assertEquals(m.released, sender.queue.released(ticket), () -> "send " + m.number);
        }
      }
      for (int i = 0; i < FLOWS; i++) {
        assertEquals(model.failed[i], flows[i].failed(), "flow " + i);
      }
      for (FakeOutlet outlet : outlets) {
        checkLog(outlet);
      }
    }

    /** The same sends, and each flow's ordered ones in the same order. */
    private void checkLog(FakeOutlet outlet) {
      List<Message> wanted = model.logs.getOrDefault(outlet, new ArrayList<>());
      List<Message> got = outlet.log.stream().map(i -> byNumber(i)).toList();
      assertEquals(wanted.size(), got.size());
      assertTrue(got.containsAll(wanted));
      for (int flow = 0; flow < FLOWS; flow++) {
        int f = flow;
        assertEquals(
            wanted.stream().filter(m -> m.flow == f && m.ordered).map(m -> m.number).toList(),
            got.stream().filter(m -> m.flow == f && m.ordered).map(m -> m.number).toList());
      }
      // Between flows the model is free: from here on it follows what was done.
      wanted.clear();
      wanted.addAll(got);
    }

    private Message byNumber(int number) {
      return model.messages.stream().filter(m -> m.number == number).findFirst().orElseThrow();
    }

    /** Everything comes to an end, and nothing is left. */
    private void finish() {
      for (FakeStream s : streams) {
        s.completed = Math.min(s.enqueued, s.failedAt - 1);
      }
      for (FakePort port : ports) {
        port.outlet = port.outlet == null ? outlets[0] : port.outlet;
      }
      for (int round = 0; round < 2 * FLOWS + 2; round++) {
        for (FakeOutlet o : outlets) {
          o.full = false;
          if (o.failedFrom == Long.MAX_VALUE) {
            o.completed = o.log.size();
          }
        }
        sender.work();
        check();
      }
      assertEquals(0, sender.queue.underWay());
      assertEquals(0, sender.queue.counters().waiting());
      for (FakeStream s : streams) {
        assertEquals(0, s.held, "an event was not given back");
      }
    }
  }

  @Property(tries = 1000, shrinking = ShrinkingMode.OFF)
  void theQueueAgreesWithAPlainModel(
      @ForAll long seed, @ForAll @IntRange(min = 4, max = 64) int n) {
    new Run(seed, n).go();
  }
}
