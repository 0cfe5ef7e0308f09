// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * One thread, run until it needs the value of a read. Everything else is done at once: writes,
 * fences, arithmetic and branches. Resolving the read gives a new run and leaves this one as it
 * was.
 */
final class ThreadRun {
  /** What the run waits for. CUT: it took a backward branch more often than the program's bound. */
  enum State {
    READING,
    DONE,
    CUT
  }

  private final Program program;
  private final List<String> locations;
  private final int thread;
  private final List<Program.Step> steps;
  private final int[] taken;
  private final List<Event> events;
  private final Map<String, Long> values;
  private final boolean straight;

  /** For each register, the events of this thread that its value was computed from, as bits. */
  private final Map<String, Long> taints;

  /** The events that the branches taken so far depend on. */
  private long control;

  private int pc;
  private State state = State.READING;

  private ThreadRun(Program program, List<String> locations, int thread) {
    this.program = program;
    this.locations = locations;
    this.thread = thread;
    this.steps = program.threads().get(thread).steps();
    this.taken = new int[steps.size()];
    this.events = new ArrayList<>();
    this.values = new HashMap<>();
    this.taints = new HashMap<>();
    this.straight =
        IntStream.range(0, steps.size())
            .noneMatch(
                at ->
                    steps.get(at).instruction() instanceof Instruction.Branch branch
                        && Program.target(steps, branch.label()) <= at);
  }

  private ThreadRun(ThreadRun other) {
    program = other.program;
    locations = other.locations;
    thread = other.thread;
    steps = other.steps;
    taken = other.taken.clone();
    events = new ArrayList<>(other.events);
    values = new HashMap<>(other.values);
    taints = new HashMap<>(other.taints);
    straight = other.straight;
    control = other.control;
    pc = other.pc;
  }

  static ThreadRun start(Program program, List<String> locations, int thread) {
    ThreadRun run = new ThreadRun(program, locations, thread);
    String prefix = program.threads().get(thread).name() + ":";
    program
        .registers()
        .forEach(
            (name, value) -> {
              if (name.startsWith(prefix)) {
                run.values.put(name.substring(prefix.length()), value);
              }
            });
    run.advance();
    return run;
  }

  State state() {
    return state;
  }

  List<Event> events() {
    return events;
  }

  /** What the run did so far; a run never changes once it waits. */
  Trace trace() {
    return new Trace(events, values);
  }

  /**
   * The final value of a register, or null if it isn't known yet: at the end every one is, before
   * it those that a single instruction sets, in a thread without loops.
   */
  Long finalValue(String register) {
    if (state == State.DONE) {
      return values.getOrDefault(register, 0L);
    }
    return straight && taints.containsKey(register) && setOnce(register)
        ? values.get(register)
        : null;
  }

  private boolean setOnce(String register) {
    return steps.stream().filter(step -> sets(step.instruction(), register)).count() == 1;
  }

  private static boolean sets(Instruction instruction, String register) {
    return switch (instruction) {
      case Instruction.Load load -> load.register().equals(register);
      case Instruction.Atom atom -> atom.register().equals(register);
      case Instruction.Local local -> local.register().equals(register);
      default -> false;
    };
  }

  /** The location that the pending read is from. */
  int location() {
    return switch (steps.get(pc).instruction()) {
      case Instruction.Load load -> locations.indexOf(load.location());
      case Instruction.Atom atom -> locations.indexOf(atom.location());
      default -> throw new IllegalStateException("no read is pending");
    };
  }

  /** Whether an instruction that is still to come may write to the location. */
  boolean mayWrite(int location) {
    if (state != State.READING) {
      return false;
    }
    String name = locations.get(location);
    return steps.stream()
        .anyMatch(
            step ->
                switch (step.instruction()) {
                  case Instruction.Store store -> store.location().equals(name);
                  case Instruction.Atom atom -> atom.location().equals(name);
                  default -> false;
                });
  }

  /** The run in which the pending read returned {@code value}. */
  ThreadRun resolve(long value) {
    ThreadRun next = new ThreadRun(this);
    next.read(value);
    next.advance();
    return next;
  }

  private void read(long value) {
    String text = steps.get(pc).text();
    switch (steps.get(pc).instruction()) {
      case Instruction.Load load -> {
        set(load.register(), value, 1L << events.size());
        add(
            Event.Kind.LOAD,
            location(),
            load.order(),
            load.scope(),
            true,
            false,
            value,
            0,
            0,
            text);
      }
      case Instruction.Atom atom -> {
        long a = value(atom.a());
        long b = value(atom.b());
        long operands = taint(atom.a()) | taint(atom.b());
        boolean writes = atom.op() != Instruction.Rmw.CAS || value == a;
        Event.Kind kind = atom.reduction() ? Event.Kind.RED : Event.Kind.ATOM;
        if (!atom.reduction()) {
          set(atom.register(), value, 1L << events.size());
        }
        long written = writes ? atom.op().apply(value, a, b) : 0;
        add(
            kind,
            location(),
            atom.order(),
            atom.scope(),
            true,
            writes,
            value,
            written,
            operands,
            text);
      }
      default -> throw new IllegalStateException("no read is pending");
    }
    pc++;
  }

  private void advance() {
    while (pc < steps.size()) {
      String text = steps.get(pc).text();
      switch (steps.get(pc).instruction()) {
        case Instruction.Load load -> {
          return;
        }
        case Instruction.Atom atom -> {
          return;
        }
        case Instruction.Label label -> pc++;
        case Instruction.Local local -> {
          set(
              local.register(),
              local.op().apply(value(local.a()), value(local.b())),
              taint(local.a()) | taint(local.b()));
          pc++;
        }
        case Instruction.Fence fence -> {
          add(Event.Kind.FENCE, -1, fence.order(), fence.scope(), false, false, 0, 0, 0, text);
          pc++;
        }
        case Instruction.Store store -> {
          int location = locations.indexOf(store.location());
          add(
              Event.Kind.STORE,
              location,
              store.order(),
              store.scope(),
              false,
              true,
              0,
              value(store.value()),
              taint(store.value()),
              text);
          pc++;
        }
        case Instruction.Branch branch -> branch(branch);
      }
      if (state == State.CUT) {
        return;
      }
    }
    state = State.DONE;
  }

  private void branch(Instruction.Branch branch) {
    control |= taint(branch.a()) | taint(branch.b());
    if (!branch.compare().holds(value(branch.a()), value(branch.b()))) {
      pc++;
      return;
    }
    int target = Program.target(steps, branch.label());
    if (target <= pc && taken[pc]++ >= program.unroll()) {
      state = State.CUT;
      return;
    }
    pc = target;
  }

  private void add(
      Event.Kind kind,
      int location,
      Order order,
      Scope scope,
      boolean reads,
      boolean writes,
      long read,
      long written,
      long operands,
      String text) {
    events.add(
        new Event(
            thread,
            kind,
            location,
            order,
            scope,
            reads,
            writes,
            read,
            written,
            control | operands,
            text));
  }

  private void set(String register, long value, long taint) {
    values.put(register, value);
    taints.put(register, taint);
  }

  private long value(Operand operand) {
    return switch (operand) {
      case Operand.Constant c -> c.value();
      case Operand.Register r -> values.getOrDefault(r.name(), 0L);
    };
  }

  private long taint(Operand operand) {
    return operand instanceof Operand.Register r ? taints.getOrDefault(r.name(), 0L) : 0;
  }
}
