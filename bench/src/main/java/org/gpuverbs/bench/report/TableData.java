// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.util.List;

/**
 * A table of results.
 *
 * @param id anchor
 * @param title what it holds
 * @param note how to read it; may be empty
 * @param columns heads; the first is text, the others are numbers
 * @param rows cells
 */
record TableData(
    String id, String title, String note, List<String> columns, List<List<String>> rows) {
  String markdown() {
    return "**" + title + "**\n\n" + grid() + (note.isEmpty() ? "" : "\n" + note + "\n");
  }

  /** Without title and note. */
  String grid() {
    StringBuilder text = new StringBuilder("|");
    columns.forEach(column -> text.append(' ').append(column).append(" |"));
    text.append("\n|").append("---|".repeat(columns.size())).append('\n');
    for (List<String> row : rows) {
      text.append('|');
      row.forEach(cell -> text.append(' ').append(cell).append(" |"));
      text.append('\n');
    }
    return text.toString();
  }
}
