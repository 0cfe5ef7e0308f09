// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rules out choices of paths early: a value that is read must be written by somebody, and, where
 * every access to a location is morally strong, each write feeds at most one atomic operation (PTX
 * ISA 8.10.3).
 */
final class Supply {
  private record Value(int location, long value) {}

  /**
   * How often one path writes a value, and how often its atomic operations take it; 0 takes: a load
   * wants it.
   */
  private record Count(Map<Value, Integer> written, Map<Value, Integer> taken) {}

  private final Map<Trace, Count> counts = new java.util.IdentityHashMap<>();
  private final List<Map<Value, Integer>> most = new ArrayList<>();
  private final Map<Value, Integer> initial = new HashMap<>();
  private final boolean[] uniform;

  Supply(Program program, List<String> locations, List<List<Trace>> traces) {
    uniform = new boolean[locations.size()];
    for (int location = 0; location < uniform.length; location++) {
      uniform[location] = uniform(program, location, traces);
      initial.put(
          new Value(location, program.memory().getOrDefault(locations.get(location), 0L)), 1);
    }
    for (List<Trace> ofThread : traces) {
      Map<Value, Integer> best = new HashMap<>();
      for (Trace trace : ofThread) {
        Count count = count(trace);
        counts.put(trace, count);
        count.written.forEach((value, n) -> best.merge(value, n, Math::max));
      }
      most.add(best);
    }
  }

  private static boolean uniform(Program program, int location, List<List<Trace>> traces) {
    List<Event> distinct =
        traces.stream()
            .flatMap(List::stream)
            .flatMap(trace -> trace.events().stream())
            .filter(event -> event.memory() && event.location() == location)
            .map(
                e ->
                    new Event(
                        e.thread(),
                        e.kind(),
                        location,
                        e.order(),
                        e.scope(),
                        false,
                        false,
                        0,
                        0,
                        0,
                        ""))
            .distinct()
            .toList();
    for (Event a : distinct) {
      for (Event b : distinct) {
        if (a.thread() != b.thread()
            && !(a.strong()
                && a.scope()
                    .includes(
                        program.threads().get(a.thread()).place(),
                        program.threads().get(b.thread()).place()))) {
          return false;
        }
      }
    }
    return true;
  }

  private static Count count(Trace trace) {
    Count count = new Count(new HashMap<>(), new HashMap<>());
    for (Event event : trace.events()) {
      if (event.reads()) {
        boolean takes = event.atomic() && event.writes();
        count.taken.merge(new Value(event.location(), event.read()), takes ? 1 : 0, Integer::sum);
      }
      if (event.writes()) {
        count.written.merge(new Value(event.location(), event.written()), 1, Integer::sum);
      }
    }
    return count;
  }

  /**
   * @param chosen the paths chosen so far, null where none is
   */
  boolean suffices(Trace[] chosen) {
    Map<Value, Integer> taken = new HashMap<>();
    for (Trace trace : chosen) {
      if (trace != null) {
        counts.get(trace).taken.forEach((value, n) -> taken.merge(value, n, Integer::sum));
      }
    }
    for (Map.Entry<Value, Integer> want : taken.entrySet()) {
      int writes = initial.getOrDefault(want.getKey(), 0);
      for (int t = 0; t < chosen.length; t++) {
        Map<Value, Integer> source =
            chosen[t] == null ? most.get(t) : counts.get(chosen[t]).written;
        writes += source.getOrDefault(want.getKey(), 0);
      }
      int needed = uniform[want.getKey().location()] ? Math.max(1, want.getValue()) : 1;
      if (writes < needed) {
        return false;
      }
    }
    return true;
  }
}
