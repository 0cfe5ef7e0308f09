// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.PrintStream;
import java.util.List;

/**
 * A table whose rows are printed as they come, so its widths are fixed from the start; a longer
 * cell pushes the rest.
 */
final class Table {
  /** Positive width: left-aligned; negative: right-aligned. */
  record Column(String title, int width) {}

  private final PrintStream out;
  private final List<Column> columns;

  Table(PrintStream out, List<Column> columns) {
    this.out = out;
    this.columns = columns;
  }

  void header() {
    line(columns.stream().map(Column::title).toList());
  }

  void row(Object... cells) {
    line(List.of(cells));
  }

  private void line(List<?> cells) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < cells.size(); i++) {
      int width = columns.get(i).width();
      String cell = String.valueOf(cells.get(i));
      String padding = " ".repeat(Math.max(0, Math.abs(width) - cell.length()));
      text.append(i == 0 ? "" : "  ").append(width < 0 ? padding + cell : cell + padding);
    }
    out.println(text.toString().stripTrailing());
  }
}
