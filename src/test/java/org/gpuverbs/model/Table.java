// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.List;

/** Lays columns of text side by side, as litmus files do. */
final class Table {
  private Table() {}

  static String format(List<List<String>> columns) {
    int rows = columns.stream().mapToInt(List::size).max().orElse(0);
    StringBuilder out = new StringBuilder();
    for (int row = 0; row < rows; row++) {
      for (int c = 0; c < columns.size(); c++) {
        List<String> column = columns.get(c);
        int width = column.stream().mapToInt(String::length).max().orElse(0);
        String cell = row < column.size() ? column.get(row) : "";
        out.append(c == 0 ? " " : " | ").append(cell).append(" ".repeat(width - cell.length()));
      }
      out.append(" ;\n");
    }
    return out.toString();
  }

  /** The cells, row by row, in so many columns. */
  static String grid(List<String> cells, int columns) {
    int width = cells.stream().mapToInt(String::length).max().orElse(0);
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < cells.size(); i++) {
      boolean last = (i + 1) % columns == 0 || i + 1 == cells.size();
      out.append("  ").append(cells.get(i));
      out.append(last ? "\n" : " ".repeat(width - cells.get(i).length()));
    }
    return out.toString();
  }
}
