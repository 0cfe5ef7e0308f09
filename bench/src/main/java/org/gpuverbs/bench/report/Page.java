// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** One HTML file with everything in it. */
final class Page {
  private final StringBuilder text = new StringBuilder();

  private Page() {}

  static String of(
      Results results, List<Figure> figures, Map<String, byte[]> images, List<TableData> tables)
      throws IOException {
    Page page = new Page();
    page.write(results, figures, images, tables);
    return page.text.toString();
  }

  private void write(
      Results results, List<Figure> figures, Map<String, byte[]> images, List<TableData> tables)
      throws IOException {
    text.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .append("<title>gpuverbs benchmarks</title>\n<style>\n")
        .append(style())
        .append("</style></head><body>\n<main>\n<h1>gpuverbs benchmarks</h1>\n");
    paragraph(
        "Made "
            + Instant.now().truncatedTo(ChronoUnit.SECONDS)
            + " from "
            + String.join(", ", results.folders)
            + ". Numbers of a virtual machine are ratios to be trusted more than times: each row says"
            + " its noise.");
    list("Machines", results.machines);
    list("Not measured", results.absent);
    text.append("<h2>Plots</h2>\n");
    for (Figure figure : figures) {
      text.append("<figure class=\"plot\" id=\"")
          .append(figure.id())
          .append("\"><img width=\"")
          .append(Plots.WIDTH)
          .append("\" height=\"")
          .append(Plots.HEIGHT)
          .append("\" alt=\"")
          .append(escape(figure.chart().getTitle()))
          .append("\" src=\"data:image/png;base64,")
          .append(Base64.getEncoder().encodeToString(images.get(figure.id())))
          .append("\"><figcaption>")
          .append(escape(figure.caption()))
          .append("</figcaption></figure>\n");
    }
    text.append("<h2>Tables</h2>\n");
    for (TableData table : tables) {
      table(table);
    }
    list("Commands", results.commands);
    text.append("</main></body></html>\n");
  }

  private void table(TableData table) {
    boolean folded = table.rows().size() > 20;
    text.append(folded ? "<details id=\"" : "<section id=\"").append(table.id()).append("\">");
    text.append(folded ? "<summary>" : "<h3>")
        .append(escape(table.title()))
        .append(folded ? " (" + table.rows().size() + " rows)</summary>" : "</h3>");
    if (!table.note().isEmpty()) {
      paragraph(table.note());
    }
    text.append("<div class=\"wide\"><table><thead><tr>");
    table.columns().forEach(column -> cell("th", column));
    text.append("</tr></thead><tbody>\n");
    for (List<String> row : table.rows()) {
      text.append("<tr>");
      row.forEach(each -> cell("td", each));
      text.append("</tr>\n");
    }
    text.append("</tbody></table></div>").append(folded ? "</details>\n" : "</section>\n");
  }

  private void cell(String tag, String content) {
    text.append('<').append(tag).append('>').append(escape(content)).append("</").append(tag);
    text.append('>');
  }

  private void list(String title, List<String> lines) {
    if (lines.isEmpty()) {
      return;
    }
    text.append("<h2>").append(escape(title)).append("</h2>\n<ul>\n");
    for (String line : lines) {
      text.append("<li><code>").append(escape(line)).append("</code></li>\n");
    }
    text.append("</ul>\n");
  }

  private void paragraph(String content) {
    text.append("<p>").append(escape(content)).append("</p>\n");
  }

  private static String style() throws IOException {
    try (InputStream in = Page.class.getResourceAsStream("page.css")) {
      if (in == null) {
        throw new IOException("the jar has no page.css");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  static String escape(String content) {
    return content
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
