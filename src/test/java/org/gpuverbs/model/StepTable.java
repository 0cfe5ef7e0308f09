// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * native/include/gpuverbs/steps.def: the table from which the device code takes its ordering steps,
 * and this proof too.
 */
record StepTable(Map<String, Step> steps) {
  private static final Pattern ROW =
      Pattern.compile(
          "^GV_STEP\\(\\s*(\\w+)\\s*,\\s*(\\w+)\\s*,\\s*(\\w+)\\s*,\\s*(\\w+)\\s*,\\s*(\\w+)\\s*,\\s*(\\w+)\\s*\\)",
          Pattern.MULTILINE);

  /** How a step is written in PTX; the text between is the semantics and the scope. */
  enum Kind {
    FENCE("fence.", ""),
    LOAD64("ld.", ""),
    LOAD32("ld.", ""),
    PAIR64("ld.", ""),
    STORE64("st.", ""),
    STORE32("st.", ""),
    MMIO64("st.mmio.", ""),
    CAS64("atom.", ".cas"),
    ADD64("atom.", ".add"),
    RED64("red.", ".add"),
    REDXOR32("red.", ".xor");

    final String prefix;
    final String suffix;

    Kind(String prefix, String suffix) {
      this.prefix = prefix;
      this.suffix = suffix;
    }

    boolean readModifyWrite() {
      return prefix.equals("atom.") || prefix.equals("red.");
    }
  }

  /** What a step does in one fence mode. */
  record Semantics(Order order, Scope scope) {
    String token() {
      return order == Order.WEAK ? order.token() : order.token() + "." + scope.token();
    }
  }

  /**
   * One row.
   *
   * @param atomic false in a mutant that replaces an atomic operation by a load and a store
   * @param present false in a mutant that leaves the step out
   */
  record Step(
      String name, Kind kind, Semantics system, Semantics device, boolean atomic, boolean present) {
    Semantics in(FenceMode mode) {
      return mode == FenceMode.SYSTEM ? system : device;
    }

    Step with(FenceMode mode, Semantics semantics) {
      return mode == FenceMode.SYSTEM
          ? new Step(name, kind, semantics, device, atomic, present)
          : new Step(name, kind, system, semantics, atomic, present);
    }

    Step plain() {
      return new Step(name, kind, system, device, false, present);
    }

    Step removed() {
      return new Step(name, kind, system, device, atomic, false);
    }
  }

  static StepTable read(Path file) throws IOException {
    Map<String, Step> steps = new LinkedHashMap<>();
    Matcher row = ROW.matcher(Files.readString(file));
    while (row.find()) {
      steps.put(
          row.group(1),
          new Step(
              row.group(1),
              Kind.valueOf(row.group(2).toUpperCase(Locale.ROOT)),
              semantics(row.group(3), row.group(4)),
              semantics(row.group(5), row.group(6)),
              true,
              true));
    }
    return new StepTable(Collections.unmodifiableMap(steps));
  }

  private static Semantics semantics(String order, String scope) {
    return new Semantics(
        Order.valueOf(order.toUpperCase(Locale.ROOT)),
        Scope.valueOf(scope.toUpperCase(Locale.ROOT)));
  }

  StepTable with(Step step) {
    Map<String, Step> copy = new LinkedHashMap<>(steps);
    copy.put(step.name(), step);
    return new StepTable(Collections.unmodifiableMap(copy));
  }

  /**
   * The instructions for one line of a path: a step of this table with its operands, or an
   * instruction that is none.
   *
   * @param unique a suffix for labels that the expansion needs
   */
  List<String> expand(String line, FenceMode mode, String unique) {
    int space = line.indexOf(' ');
    Step step = steps.get(space < 0 ? line : line.substring(0, space));
    if (step == null) {
      return List.of(line);
    }
    String operands = space < 0 ? "" : line.substring(space);
    String semantics = step.in(mode).token();
    if (!step.present()) {
      return List.of();
    }
    if (step.atomic()) {
      return List.of(step.kind().prefix + semantics + step.kind().suffix + operands);
    }
    return torn(step, semantics, operands.strip().split("\\s*,\\s*"), unique);
  }

  /** An atomic operation as a load and a store that others can come between. */
  private static List<String> torn(Step step, String semantics, String[] o, String unique) {
    return switch (step.kind()) {
      case CAS64 -> {
        String skip = "torn" + unique;
        yield List.of(
            "ld.relaxed." + scope(semantics) + " " + o[0] + ", " + o[1],
            "bne " + o[0] + ", " + o[2] + ", " + skip,
            "st." + semantics + " " + o[1] + ", " + o[3],
            skip + ":");
      }
      case ADD64 ->
          List.of(
              "ld.relaxed." + scope(semantics) + " " + o[0] + ", " + o[1],
              "add r99, " + o[0] + ", " + o[2],
              "st." + semantics + " " + o[1] + ", r99");
      case RED64, REDXOR32 ->
          List.of(
              "ld.relaxed." + scope(semantics) + " r98, " + o[0],
              (step.kind() == Kind.RED64 ? "add" : "xor") + " r99, r98, " + o[1],
              "st." + semantics + " " + o[0] + ", r99");
      default -> throw new IllegalArgumentException(step.name() + " is not atomic");
    };
  }

  private static String scope(String semantics) {
    return semantics.substring(semantics.lastIndexOf('.') + 1);
  }
}
