// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.List;

/**
 * The events of one choice of paths, and the relations that do not depend on who reads from whom:
 * program order, morally strong, dependencies, release and acquire patterns.
 */
final class Candidate {
  final Program program;
  final List<String> locations;
  final List<Event> events = new ArrayList<>();
  final List<Trace> traces;

  /** Program order; the initial writes come before every thread (PTX ISA 8.2.6, 8.9.1). */
  final Relation po;

  /** Pairs of different events that are morally strong relative to each other (8.7). */
  final Relation strong;

  /**
   * An event to the events of its thread whose values it depends on, reversed: what no-thin-air
   * orders.
   */
  final Relation dependency;

  /** Events that access the same location. */
  final long[] sameLocation;

  /** For a write: the first operations of the release patterns whose write it is (8.8). */
  final long[] releaseHeads;

  /** For a read: the last operations of the acquire patterns whose read it is (8.8). */
  final long[] acquireTails;

  private final List<Integer> firstOf = new ArrayList<>();

  Candidate(Program program, List<String> locations, List<Trace> traces) {
    this.program = program;
    this.locations = locations;
    this.traces = traces;
    for (int location = 0; location < locations.size(); location++) {
      String name = locations.get(location);
      long value = program.memory().getOrDefault(name, 0L);
      events.add(Event.initial(location, value, name + " = " + value));
    }
    for (Trace trace : traces) {
      firstOf.add(events.size());
      events.addAll(trace.events());
    }
    int n = events.size();
    po = new Relation(n);
    strong = new Relation(n);
    dependency = new Relation(n);
    sameLocation = new long[n];
    releaseHeads = new long[n];
    acquireTails = new long[n];
    for (int i = 0; i < n; i++) {
      Event event = events.get(i);
      for (int j = 0; j < n; j++) {
        relate(i, event, j, events.get(j));
      }
      if (event.thread() >= 0) {
        int first = firstOf.get(event.thread());
        for (long left = event.dependsOn(); left != 0; left &= left - 1) {
          dependency.add(first + Long.numberOfTrailingZeros(left), i);
        }
      }
    }
    findPatterns();
  }

  /** The event at a position of a thread. The initial write of location i is event i. */
  int index(int thread, int position) {
    return firstOf.get(thread) + position;
  }

  private void relate(int i, Event a, int j, Event b) {
    if (a.memory() && b.memory() && a.location() == b.location()) {
      sameLocation[i] |= 1L << j;
    }
    if (i == j) {
      return;
    }
    if (a.thread() == b.thread() ? i < j && a.thread() >= 0 : a.thread() == Event.INITIAL) {
      po.add(i, j);
    }
    boolean complete = !a.memory() || !b.memory() || a.location() == b.location();
    boolean sameThread = a.thread() == b.thread() && a.thread() >= 0;
    if (complete && (sameThread || (reaches(a, b) && reaches(b, a)))) {
      strong.add(i, j);
    }
  }

  /** "specifies a scope that includes the thread executing the other operation" */
  private boolean reaches(Event from, Event to) {
    return from.strong() && to.thread() >= 0 && from.scope().includes(place(from), place(to));
  }

  private Scope.Place place(Event event) {
    return program.threads().get(event.thread()).place();
  }

  private void findPatterns() {
    for (int i = 0; i < events.size(); i++) {
      Event a = events.get(i);
      for (int j = 0; j < events.size(); j++) {
        Event b = events.get(j);
        boolean before = a.thread() >= 0 && po.has(i, j);
        boolean sameMemory = a.memory() && b.memory() && a.location() == b.location();
        boolean releases = a.order().releases() && (a.kind() == Event.Kind.FENCE || a.writes());
        if (b.strongWrite()
            && releases
            && (i == j || (before && (a.kind() == Event.Kind.FENCE || sameMemory)))) {
          releaseHeads[j] |= 1L << i;
        }
        boolean acquires = b.order().acquires() && (b.kind() == Event.Kind.FENCE || b.strongRead());
        if (a.strongRead()
            && acquires
            && (i == j || (before && (b.kind() == Event.Kind.FENCE || sameMemory)))) {
          acquireTails[i] |= 1L << j;
        }
      }
    }
  }

  /**
   * The name an event is printed with: thread and position, as P1.3; an initial write by its
   * location.
   */
  String label(int event) {
    Event e = events.get(event);
    if (e.thread() == Event.INITIAL) {
      return "init";
    }
    int position = 1;
    for (int i = event - 1; i >= 0 && events.get(i).thread() == e.thread(); i--) {
      position++;
    }
    return program.threads().get(e.thread()).name() + "." + position;
  }
}
