// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * One question about one policy: {@code submitters} WQEs, of which those in {@code ringers} are
 * followed by a doorbell. The last one always is: it finds nobody behind it.
 */
record SubmitCase(
    SubmitPath path, FenceMode mode, int submitters, Set<Integer> ringers, Property property) {

  /** What must hold, and how the NIC looks at it. */
  enum Property {
    /**
     * I1: a doorbell's index covers only WQEs that are visible to whoever takes the index from the
     * doorbell.
     */
    WQE_BY_DOORBELL,
    /** I1: the same, for a NIC that takes the index from the DBR after a doorbell. */
    WQE_BY_DBR,
    /** I3: the DBR read after a doorbell is not behind it. */
    DBR_NOT_BEHIND,
    /** I3: when all have submitted, the DBR covers them all: it never went back. */
    DBR_NOT_BACK,
    /**
     * I3: a NIC that has consumed the last doorbell reads a DBR that covers all. The doorbell is a
     * word in memory.
     */
    NO_LOST_TAIL,
    /** Not a property but a check of the model: the good outcome is reachable. */
    REACHABLE,
    /** I1: as WQE_BY_DBR, for a NIC that looks at the DBR although no doorbell was rung. */
    WQE_BY_RECORD;

    /** Those of the table of verdicts. */
    static final List<Property> IN_TABLE =
        List.of(WQE_BY_DOORBELL, WQE_BY_DBR, DBR_NOT_BEHIND, DBR_NOT_BACK, NO_LOST_TAIL, REACHABLE);

    boolean looksAtWqes() {
      return this == WQE_BY_DOORBELL
          || this == WQE_BY_DBR
          || this == WQE_BY_RECORD
          || this == REACHABLE;
    }
  }

  String name() {
    return path.name() + "_" + mode + "_" + property + "_" + pattern().replace(' ', '_');
  }

  /** How many submit and who rings, as "N3 ring 1+3". */
  String pattern() {
    String who = ringers.stream().sorted().map(r -> "" + (r + 1)).collect(Collectors.joining("+"));
    return "N" + submitters + " ring " + who;
  }

  Program program(StepTable table) {
    return LitmusParser.parse(litmus(table));
  }

  /** The question in litmus form. */
  String litmus(StepTable table) {
    List<List<String>> columns = new ArrayList<>();
    for (int i = 0; i < submitters; i++) {
      List<String> column =
          path.name().equals("EXCLUSIVE") && i > 0 ? columns.get(0) : new ArrayList<>();
      if (column.isEmpty()) {
        column.add("P" + i + "@cta " + i + ",gpu 0");
        columns.add(column);
      }
      List<String> code = path.instructions(table, mode, i, ringers.contains(i));
      if (!property.looksAtWqes()) {
        code.removeIf(line -> line.startsWith("st.weak w"));
      }
      column.addAll(code);
    }
    String nic = "P" + columns.size();
    List<String> observer = observer();
    if (!observer.isEmpty()) {
      observer.add(0, nic + "@cta 9,gpu " + mode.nicGpu);
      columns.add(observer);
    }
    return "PTX "
        + name()
        + "\nunroll "
        + (path.name().startsWith("BITMAP") ? submitters - 1 : 0)
        + "\n{ "
        + IntStream.range(0, submitters)
            .mapToObj(i -> "w" + i + "=0; ")
            .collect(Collectors.joining())
        + "dbr=0; db=0; }\n"
        + Table.format(columns)
        + (property == Property.REACHABLE ? "exists" : "~exists")
        + "\n("
        + condition(nic)
        + ")\n";
  }

  private List<String> observer() {
    List<String> out = new ArrayList<>();
    switch (property) {
      case DBR_NOT_BACK -> {
        return out;
      }
      case WQE_BY_RECORD -> {
        out.add("ld.relaxed.sys r9, dbr");
        out.add("fence.acq_rel.sys");
        addWqes(out);
        return out;
      }
      case NO_LOST_TAIL -> out.add("atom.relaxed.sys.exch r0, db, 0");
      default -> out.add("ld.relaxed.sys r0, db");
    }
    out.add("fence.acq_rel.sys");
    if (property != Property.WQE_BY_DOORBELL) {
      out.add("beq r0, 0, idle");
      out.add("ld.relaxed.sys r9, dbr");
    }
    if (property == Property.WQE_BY_DBR || property == Property.REACHABLE) {
      out.add("fence.acq_rel.sys");
    }
    if (property != Property.DBR_NOT_BEHIND && property != Property.NO_LOST_TAIL) {
      addWqes(out);
    }
    if (property != Property.WQE_BY_DOORBELL) {
      out.add("idle:");
    }
    return out;
  }

  private void addWqes(List<String> out) {
    for (int i = 0; i < submitters; i++) {
      out.add("ld.relaxed.sys r" + (i + 1) + ", w" + i);
    }
  }

  private String condition(String nic) {
    String last = "" + submitters;
    return switch (property) {
      case WQE_BY_DOORBELL -> eachSlot(nic + ":r0 > %d /\\ " + nic + ":r%d == 0", " \\/ ");
      case WQE_BY_DBR, WQE_BY_RECORD ->
          eachSlot(nic + ":r9 > %d /\\ " + nic + ":r%d == 0", " \\/ ");
      case DBR_NOT_BEHIND -> nic + ":r9 < " + nic + ":r0";
      case DBR_NOT_BACK -> "dbr < " + last;
      case NO_LOST_TAIL -> "db == 0 /\\ " + nic + ":r9 < " + last;
      case REACHABLE ->
          nic
              + ":r0 == "
              + last
              + " /\\ "
              + nic
              + ":r9 == "
              + last
              + " /\\ "
              + eachSlot(nic + ":r0 > %d /\\ " + nic + ":r%d == 1", " /\\ ");
    };
  }

  private String eachSlot(String format, String separator) {
    return IntStream.range(0, submitters)
        .mapToObj(i -> "(" + String.format(format, i, i + 1) + ")")
        .collect(Collectors.joining(separator));
  }

  /** Every pattern of ringing in which the last submitter rings. */
  static List<Set<Integer>> patterns(int submitters) {
    List<Set<Integer>> found = new ArrayList<>();
    for (int mask = 0; mask < 1 << (submitters - 1); mask++) {
      int bits = mask | 1 << (submitters - 1);
      found.add(
          IntStream.range(0, submitters)
              .filter(i -> (bits >> i & 1) != 0)
              .boxed()
              .collect(Collectors.toUnmodifiableSet()));
    }
    return found;
  }
}
