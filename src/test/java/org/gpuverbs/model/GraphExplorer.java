// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Builds executions read by read: the first thread that waits for a value takes it from one of the
 * writes that exist, or is put off until others have written more. Partial executions that already
 * break an axiom are dropped, because no later event can mend them. Finds every execution in which
 * program order and reads-from have no cycle together, so it is for programs in which {@link
 * LoadBuffering} is not possible; {@link TraceEnumerator} is for the others.
 */
final class GraphExplorer {
  /** Decides about partial executions and receives the complete ones. */
  interface Visitor {
    /**
     * @return false to drop this execution and all that extend it
     */
    boolean promising(List<ThreadRun> runs, Candidate candidate, int[] readsFrom);

    /**
     * @return true to stop
     */
    boolean complete(Candidate candidate, int[] readsFrom);
  }

  /** A write: the thread and the position in it, or {@link Event#INITIAL} and the location. */
  private record Source(int thread, int position) {}

  private final Program program;
  private final List<String> locations;
  private final Visitor visitor;
  private boolean cut;

  GraphExplorer(Program program, List<String> locations, Visitor visitor) {
    this.program = program;
    this.locations = locations;
    this.visitor = visitor;
  }

  boolean cut() {
    return cut;
  }

  boolean explore() {
    List<ThreadRun> runs = new ArrayList<>();
    List<List<Source>> sources = new ArrayList<>();
    List<List<Source>> excluded = new ArrayList<>();
    for (int t = 0; t < program.threads().size(); t++) {
      runs.add(ThreadRun.start(program, locations, t));
      sources.add(List.of());
      excluded.add(List.of());
    }
    return step(runs, sources, excluded);
  }

  /**
   * @param sources for each thread, where its reads so far took their values
   * @param excluded for each thread, the writes that its pending read has already passed by
   */
  private boolean step(
      List<ThreadRun> runs, List<List<Source>> sources, List<List<Source>> excluded) {
    for (ThreadRun run : runs) {
      if (run.state() == ThreadRun.State.CUT) {
        cut = true;
        return false;
      }
    }
    boolean done = true;
    for (int t = 0; t < runs.size(); t++) {
      if (runs.get(t).state() == ThreadRun.State.READING) {
        done = false;
        List<Source> fresh = writesTo(runs, runs.get(t).location());
        fresh.removeAll(excluded.get(t));
        if (!fresh.isEmpty()) {
          return resolve(runs, sources, excluded, t, fresh);
        }
      }
    }
    if (!done) {
      return false;
    }
    Candidate candidate = candidate(runs);
    return visitor.complete(candidate, readsFrom(candidate, sources));
  }

  private boolean resolve(
      List<ThreadRun> runs,
      List<List<Source>> sources,
      List<List<Source>> excluded,
      int t,
      List<Source> fresh) {
    ThreadRun run = runs.get(t);
    int location = run.location();
    for (Source source : fresh) {
      ThreadRun next = run.resolve(valueOf(runs, source));
      List<ThreadRun> nextRuns = with(runs, t, next);
      List<List<Source>> nextSources = with(sources, t, plus(sources.get(t), List.of(source)));
      Candidate candidate = candidate(nextRuns);
      if (visitor.promising(nextRuns, candidate, readsFrom(candidate, nextSources))
          && step(nextRuns, nextSources, with(excluded, t, List.of()))) {
        return true;
      }
    }
    for (int other = 0; other < runs.size(); other++) {
      if (other != t && runs.get(other).mayWrite(location)) {
        return step(runs, sources, with(excluded, t, plus(excluded.get(t), fresh)));
      }
    }
    return false;
  }

  private List<Source> writesTo(List<ThreadRun> runs, int location) {
    List<Source> found = new ArrayList<>(List.of(new Source(Event.INITIAL, location)));
    for (int t = 0; t < runs.size(); t++) {
      List<Event> events = runs.get(t).events();
      for (int i = 0; i < events.size(); i++) {
        if (events.get(i).writes() && events.get(i).location() == location) {
          found.add(new Source(t, i));
        }
      }
    }
    return found;
  }

  private long valueOf(List<ThreadRun> runs, Source source) {
    return source.thread() == Event.INITIAL
        ? program.memory().getOrDefault(locations.get(source.position()), 0L)
        : runs.get(source.thread()).events().get(source.position()).written();
  }

  private Candidate candidate(List<ThreadRun> runs) {
    return new Candidate(program, locations, runs.stream().map(ThreadRun::trace).toList());
  }

  private static int[] readsFrom(Candidate candidate, List<List<Source>> sources) {
    int[] result = new int[candidate.events.size()];
    Arrays.fill(result, -1);
    int[] next = new int[sources.size()];
    for (int i = 0; i < result.length; i++) {
      Event event = candidate.events.get(i);
      if (event.reads()) {
        Source source = sources.get(event.thread()).get(next[event.thread()]++);
        result[i] =
            source.thread() == Event.INITIAL
                ? source.position()
                : candidate.index(source.thread(), source.position());
      }
    }
    return result;
  }

  private static <T> List<T> with(List<T> list, int index, T value) {
    List<T> copy = new ArrayList<>(list);
    copy.set(index, value);
    return copy;
  }

  private static <T> List<T> plus(List<T> list, List<T> more) {
    List<T> copy = new ArrayList<>(list);
    copy.addAll(more);
    return copy;
  }
}
