// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command line of report. */
@Command(
    name = "report",
    description = {
      "Makes one self-contained HTML page of results: folders with JMH's JSON, perf's JSON and the GPU"
          + " harness's CSV.",
      "Beside it: each plot as a PNG, and summary.md, the tables that fit into a README.",
      ""
    })
public final class ReportCommand implements Callable<Integer> {
  @Parameters(arity = "1..*", paramLabel = "FOLDER", description = "Such as bench/results/*.")
  private List<Path> folders;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FOLDER",
      defaultValue = "bench/target/report",
      description = "Where index.html goes (${DEFAULT-VALUE}).")
  private Path output;

  @Option(
      names = "--into",
      paramLabel = "FILE",
      description =
          "Also make anew the tables in this Markdown file, between <!-- report: ID --> and <!-- end"
              + " -->. May be repeated.")
  private List<Path> documents = List.of();

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  private boolean help;

  @Override
  public Integer call() {
    // Needed before the first class of AWT.
    System.setProperty("java.awt.headless", "true");
    try {
      System.out.println("report: " + write(folders, output));
      for (Path document : documents) {
        Files.writeString(document, filled(folders, document));
        System.out.println("report: " + document);
      }
      return 0;
    } catch (IOException e) {
      System.err.println("report: " + e.getMessage());
      return 1;
    } catch (InternalError | NoClassDefFoundError | UnsatisfiedLinkError e) {
      System.err.println(
          "report: Java can't draw text here, which takes fontconfig and a font (apt-get install"
              + " fontconfig fonts-dejavu-core): "
              + e.getMessage());
      return 1;
    }
  }

  static Path write(List<Path> folders, Path output) throws IOException {
    Results results = Results.read(folders);
    List<Figure> figures = new ArrayList<>(new CpuFigures(results).all());
    figures.addAll(new DeferredFigures(results).all());
    figures.addAll(new PerfFigures(results).all());
    figures.addAll(new GpuFigures(results).all());
    Files.createDirectories(output);
    Map<String, byte[]> images = new LinkedHashMap<>();
    for (Figure figure : figures) {
      byte[] png = Plots.png(figure.chart());
      images.put(figure.id(), png);
      Files.write(output.resolve(figure.id() + ".png"), png);
    }
    Tables tables = new Tables(results);
    Path page = output.resolve("index.html");
    Files.writeString(page, Page.of(results, figures, images, tables.all()));
    StringBuilder summary = new StringBuilder();
    results.machines.forEach(machine -> summary.append("* ").append(machine).append('\n'));
    tables.brief().forEach(table -> summary.append('\n').append(table.markdown()));
    Files.writeString(output.resolve("summary.md"), summary);
    return page;
  }

  /** A document's text with its tables made of the results. */
  static String filled(List<Path> folders, Path document) throws IOException {
    Map<String, TableData> tables = new LinkedHashMap<>();
    for (TableData table : new Tables(Results.read(folders)).all()) {
      tables.put(table.id(), table);
    }
    try {
      return Sections.fill(Files.readString(document), tables);
    } catch (IOException e) {
      throw new IOException(document + ": " + e.getMessage(), e);
    }
  }
}
