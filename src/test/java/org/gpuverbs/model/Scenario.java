// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A litmus program in which ordering steps stand by name, for what the submit paths don't show:
 * free slots, tickets, the error latch, the lanes of a warp.
 *
 * @param walks for a thread, the path whose order its steps must follow
 */
record Scenario(
    String name,
    String head,
    List<List<String>> columns,
    String condition,
    Map<String, String> walks) {
  private static final Pattern SHAPE =
      Pattern.compile("(PTX (\\w+).*?\\}\\n)(.*?)\\n(~?exists.*)", Pattern.DOTALL);
  private static final Pattern WALK = Pattern.compile("(P\\d) ([A-Z_]+)");

  static Scenario read(Path file) throws IOException {
    String text = Files.readString(file);
    Matcher shape = SHAPE.matcher(text);
    if (!shape.matches()) {
      throw new IllegalArgumentException(file + " is no scenario");
    }
    List<List<String>> columns = new ArrayList<>();
    for (String row : shape.group(3).split(";")) {
      String[] cells = row.split("\\|", -1);
      for (int c = 0; c < cells.length; c++) {
        if (columns.size() <= c) {
          columns.add(new ArrayList<>());
        }
        if (!cells[c].isBlank()) {
          columns.get(c).add(cells[c].strip());
        }
      }
    }
    Map<String, String> walks = new TreeMap<>();
    Matcher walk =
        WALK.matcher(text.lines().filter(l -> l.startsWith("// walks")).findFirst().orElse(""));
    while (walk.find()) {
      walks.put(walk.group(1), walk.group(2));
    }
    return new Scenario(shape.group(2), shape.group(1), columns, shape.group(4), walks);
  }

  String litmus(StepTable table, FenceMode mode) {
    List<List<String>> expanded = new ArrayList<>();
    for (int c = 0; c < columns.size(); c++) {
      List<String> column = new ArrayList<>();
      for (int at = 0; at < columns.get(c).size(); at++) {
        column.addAll(table.expand(columns.get(c).get(at), mode, c + "x" + at));
      }
      column.set(0, column.get(0).replace("{nic}", "" + mode.nicGpu));
      expanded.add(column);
    }
    return head + Table.format(expanded) + condition;
  }

  /** The names of the steps that a thread takes, in order. */
  List<String> steps(String thread, StepTable table) {
    for (List<String> column : columns) {
      if (column.get(0).startsWith(thread + "@")) {
        return column.stream()
            .map(line -> line.split(" ")[0])
            .filter(table.steps()::containsKey)
            .toList();
      }
    }
    throw new IllegalArgumentException("no thread " + thread + " in " + name);
  }

  boolean uses(String step) {
    return columns.stream().flatMap(List::stream).anyMatch(line -> line.split(" ")[0].equals(step));
  }
}
