// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A path through native/include/gpuverbs/submit.h: the names of the ordering steps in their order,
 * with operands, and between them what the model needs of the rest. Two kinds of line are not for
 * the model, only for the comparison with the compiled code: {@code gives_up}, where the code may
 * leave with an error, and {@code may_go LABEL}, where it may go on elsewhere for a reason that the
 * model knows nothing of.
 */
record SubmitPath(String name, List<String> lines) {
  static final String GIVES_UP = "gives_up";
  static final String MAY_GO = "may_go ";

  /** A step that reserve() takes, before this path begins. */
  static final String RESERVE = "reserve> ";

  static SubmitPath read(Path directory, String name) throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line : Files.readAllLines(directory.resolve(name + ".path"))) {
      String text = line.replaceAll("//.*", "").strip();
      if (!text.isEmpty()) {
        lines.add(text);
      }
    }
    return new SubmitPath(name, List.copyOf(lines));
  }

  /**
   * The instructions of the submitter of slot {@code index}. Labels get the index, so that one
   * thread can hold several.
   */
  List<String> instructions(StepTable table, FenceMode mode, int index, boolean rings) {
    List<String> out = new ArrayList<>();
    List<String> labels =
        lines.stream()
            .filter(l -> l.endsWith(":"))
            .map(l -> l.substring(0, l.length() - 1))
            .toList();
    for (int at = 0; at < lines.size(); at++) {
      String line = lines.get(at);
      if (line.equals(GIVES_UP) || line.startsWith(MAY_GO)) {
        continue;
      }
      line = line.replace(RESERVE, "");
      for (String label : labels) {
        line = line.replaceAll("\\b" + label + "\\b(?=:?$)", label + index);
      }
      line =
          line.replace("{wqe}", "w" + index)
              .replace("{base}", "" + index)
              .replace("{next}", "" + (index + 1))
              .replace("{bit}", "" + (1 << index))
              .replace("{word}", index == 0 ? "0" : "1")
              .replace("{wordbit}", "" + (index == 0 ? 1 : 1 << (index - 1)))
              .replace("{rings}", rings ? "1" : "0");
      out.addAll(table.expand(line, mode, index + "x" + at));
    }
    return out;
  }

  boolean uses(String step) {
    return lines.stream().anyMatch(line -> line.replace(RESERVE, "").split(" ")[0].equals(step));
  }
}
