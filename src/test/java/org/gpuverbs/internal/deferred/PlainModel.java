// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What must become of sends, said plainly: look at every send again and again until nothing moves.
 * Shares the fake streams and outlets' state with the queue under test, and nothing else.
 */
final class PlainModel {
  static final class Message {
    final int number;
    final int flow;
    final boolean ordered;
    final Map<FakeStream, Long> needs = new LinkedHashMap<>();
    int result = Status.PENDING;
    boolean released;
    @Nullable FakeOutlet outlet;
    long ticket;

    Message(int number, int flow, boolean ordered) {
      this.number = number;
      this.flow = flow;
      this.ordered = ordered;
    }

    boolean waiting() {
      return !released && result == Status.PENDING;
    }
  }

  final List<Message> messages = new ArrayList<>();
  final boolean[] failed;

  /** For each outlet the numbers that it must have got, per flow in order. */
  final Map<FakeOutlet, List<Message>> logs = new LinkedHashMap<>();

  PlainModel(int flows) {
    failed = new boolean[flows];
  }

  void add(Message message) {
    messages.add(message);
  }

  void cancel(Message message) {
    message.result = Status.CANCELLED;
  }

  boolean canReset(int flow) {
    return messages.stream().noneMatch(m -> m.flow == flow && m.ordered && isUnderWay(m));
  }

  private static boolean isUnderWay(Message m) {
    return m.waiting() || m.released && m.result == Status.PENDING;
  }

  /** Until nothing moves. */
  void settle(FakePort[] ports, int error) {
    boolean moved = true;
    while (moved) {
      moved = false;
      for (Message m : messages) {
        moved |= m.released && m.result == Status.PENDING && land(m, error);
      }
      for (Message m : messages) {
        if (m.waiting()) {
          moved |= step(m, ports, error);
        }
      }
    }
  }

  private boolean land(Message m, int error) {
    FakeOutlet outlet = m.outlet;
    if (outlet == null) {
      return false;
    }
    if (m.ticket < outlet.completed) {
      m.result = Status.DONE;
      return true;
    }
    if (m.ticket >= outlet.failedFrom) {
      fail(m, error);
      return true;
    }
    return false;
  }

  /**
   * Whether a send that fails here with {@code m.result} may as well fail with {@code code}: its
   * own device error, and the failure of one before it, may be seen in either order.
   */
  boolean mayBe(Message m, int code) {
    boolean deviceFailed =
        m.needs.entrySet().stream()
            .anyMatch(n -> n.getKey().state(n.getValue()) == FakeStream.ERROR);
    return deviceFailed
        && (code == Status.FLUSHED || code == Status.DEVICE_ERROR)
        && (m.result == Status.FLUSHED || m.result == Status.DEVICE_ERROR);
  }

  private boolean step(Message m, FakePort[] ports, int error) {
    boolean ready = true;
    for (Map.Entry<FakeStream, Long> need : m.needs.entrySet()) {
      FakeStream stream = need.getKey();
      if (stream.completed < need.getValue()) {
        ready = false;
        if (stream.failedAt <= need.getValue()) {
          fail(m, Status.DEVICE_ERROR);
          return true;
        }
      }
    }
    FakeOutlet outlet = ports[m.flow].outlet;
    if (!ready || outlet == null || m.ordered && !mayFollow(m, outlet)) {
      return false;
    }
    if (outlet.failedFrom != Long.MAX_VALUE) {
      fail(m, error);
      return true;
    }
    if (outlet.full) {
      return false;
    }
    m.released = true;
    m.outlet = outlet;
    List<Message> log = logs.computeIfAbsent(outlet, o -> new ArrayList<>());
    log.add(m);
    // Between flows the model is free; what completes is told by the place that it has really got.
    int place = outlet.log.indexOf(m.number);
    m.ticket = place < 0 ? Long.MAX_VALUE : place;
    return true;
  }

  /** Whether all ordered ones before it are out, and on the same way or complete. */
  private boolean mayFollow(Message m, FakeOutlet outlet) {
    for (Message before : messages) {
      if (before == m) {
        return true;
      }
      if (before.flow == m.flow && before.ordered && isUnderWay(before)) {
        if (!before.released || before.outlet != outlet) {
          return false;
        }
      }
    }
    return true;
  }

  private void fail(Message m, int code) {
    m.result = code;
    if (!m.ordered) {
      return;
    }
    failed[m.flow] = true;
    boolean behind = m.released;
    for (Message other : messages) {
      if (behind && other != m && other.flow == m.flow && other.ordered && other.waiting()) {
        other.result = Status.FLUSHED;
      }
      behind |= other == m;
    }
  }
}
