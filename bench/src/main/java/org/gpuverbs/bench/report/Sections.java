// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.io.IOException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Tables inside a Markdown file: what stands between {@code <!-- report: ID -->} and {@code <!--
 * end -->} is replaced.
 */
final class Sections {
  private static final Pattern SECTION =
      Pattern.compile("(<!-- report: ([a-z-]+) -->\n).*?(<!-- end -->)", Pattern.DOTALL);

  private Sections() {}

  /**
   * The text with every section made anew.
   *
   * @throws IOException if a section names no table, or the file has no section
   */
  static String fill(String text, Map<String, TableData> tables) throws IOException {
    Matcher matcher = SECTION.matcher(text);
    StringBuilder filled = new StringBuilder();
    int count = 0;
    while (matcher.find()) {
      TableData table = tables.get(matcher.group(2));
      if (table == null) {
        throw new IOException(
            "section " + matcher.group(2) + ": the results make only " + tables.keySet());
      }
      matcher.appendReplacement(
          filled,
          Matcher.quoteReplacement(matcher.group(1) + table.grid() + "\n" + matcher.group(3)));
      count++;
    }
    if (count == 0) {
      throw new IOException("no <!-- report: ID --> ... <!-- end --> in it");
    }
    matcher.appendTail(filled);
    return filled.toString();
  }
}
