// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pending events of any number of streams. Only the head of each stream's line is asked about,
 * so that a poll costs one query a stream that has something pending, and one for each event that
 * is over. For one thread at a time; allocates nothing once the lines are long enough.
 */
public final class EventLines {
  /** Lines that became empty, for streams to come. */
  private static final int SPARE_LINES = 1024;

  private final Map<DeviceEvents, EventLine> lines = new IdentityHashMap<>();
  private final List<EventLine> active = new ArrayList<>();
  private int next;

  /** Nothing is pending. */
  public EventLines() {}

  /** Takes over an event: it is released once it is over. */
  public void add(DeviceEvents events, long event, Waiter waiter) {
    EventLine line = lines.get(events);
    if (line == null) {
      line = new EventLine(events);
      lines.put(events, line);
    }
    if (line.isEmpty()) {
      active.add(line);
    }
    line.add(event, waiter);
  }

  /** How many streams have something pending. */
  public int streams() {
    return active.size();
  }

  /**
   * Hands on what is over.
   *
   * @param most events at once; streams take turns at going first
   * @return how many
   */
  public int poll(int most) {
    int over = 0;
    int streams = active.size();
    for (int i = 0; i < streams && over < most; i++) {
      int at = next >= active.size() ? 0 : next;
      EventLine line = active.get(at);
      over += line.poll(most - over);
      if (line.isEmpty()) {
        retire(at, line);
        next = at;
      } else {
        next = at + 1;
      }
    }
    return over;
  }

  private void retire(int at, EventLine line) {
    EventLine last = active.removeLast();
    if (last != line) {
      active.set(at, last);
    }
    // Streams come and go; a line is kept for those that come again.
    if (lines.size() > SPARE_LINES) {
      lines.remove(line.events);
    }
  }

  /** Ends every wait with that result and releases the events. */
  public void abandon(int result) {
    while (!active.isEmpty()) {
      active.removeLast().abandon(result);
    }
    lines.clear();
  }
}
