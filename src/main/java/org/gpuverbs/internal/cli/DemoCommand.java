// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.Console;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gpuverbs.Availability;
import org.gpuverbs.Path;
import org.jspecify.annotations.Nullable;

/** The demo command: the table or the JSON object, and the exit status. */
final class DemoCommand implements Demo.Report {
  /** Work in bytes from which a bar is drawn: shorter jobs are over before it could be read. */
  private static final long LONG = 1L << 30;

  private final DemoOptions options;
  private final PrintStream out;
  private final PrintStream err;
  private final Table table;
  private Demo.@Nullable Setting setting;
  private @Nullable Progress progress;

  private DemoCommand(DemoOptions options, PrintStream out, PrintStream err) {
    this.options = options;
    this.out = out;
    this.err = err;
    table =
        new Table(
            out,
            List.of(
                new Table.Column("policy", 18),
                new Table.Column("lanes", -5),
                new Table.Column("WQEs", -9),
                new Table.Column("doorbells/WQE", -13),
                new Table.Column("MB/s", -7),
                new Table.Column("kWQE/s", -7),
                new Table.Column("result", 8)));
  }

  static int run(List<String> words, PrintStream out, PrintStream err)
      throws UsageException, IOException, InterruptedException {
    DemoOptions options = DemoOptions.parse(words);
    InetSocketAddress listen = options.meeting().listen();
    if (listen != null) {
      options.meeting().serve(listen, out);
      return Main.OK;
    }
    try (SourceFile file = SourceFile.open(options.file())) {
      return new DemoCommand(options, out, err).run(file);
    }
  }

  private int run(SourceFile file) throws IOException, InterruptedException, UsageException {
    long start = System.nanoTime();
    Demo demo = new Demo(options, file, this);
    if (!options.json()) {
      out.printf("%s, %d bytes%n", file.path(), file.size());
    }
    byte[] digest;
    try {
      digest = demo.run();
    } finally {
      if (progress != null) {
        progress.clear();
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    long verified = demo.rows().stream().filter(DemoRow::verified).count();
    boolean all = verified == demo.rows().size();
    String sha256 = HexFormat.of().formatHex(digest);
    long peak = Machine.here().peakResident().orElse(-1L);
    if (options.json()) {
      out.println(Json.of(json(demo, file, sha256, seconds, peak, all)));
    } else {
      out.printf("%nSHA-256 %s%n", sha256);
      out.printf(
          "%d of %d rows verified in %s%s%n",
          verified,
          demo.rows().size(),
          Units.duration(seconds),
          peak < 0 ? "" : ", peak memory " + Units.bytes(peak));
    }
    return all ? Main.OK : Main.FAILED;
  }

  @Override
  public void start(Demo.Setting begun) {
    setting = begun;
    progress = new Progress(err, showsProgress(begun), begun.work());
    if (options.json()) {
      return;
    }
    Path path = begun.details().path();
    out.printf(
        "path %s on %s%s%s%n",
        path, begun.nic().name(), path == Path.DIRECT ? ", " + begun.details() : "", whyNot(begun));
    out.printf(
        "initiator: %s; %d queue pair%s, requests of %s, windows of %s, %s%n%n",
        begun.initiator(),
        begun.queuePairs(),
        begun.queuePairs() == 1 ? "" : "s",
        Units.bytes(begun.chunk()),
        Units.bytes(begun.window()),
        begun.copies() == 1 ? "the file once a row" : begun.copies() + " copies side by side");
    table.header();
  }

  private boolean showsProgress(Demo.Setting begun) {
    if (options.progress() != null) {
      return options.progress();
    }
    Console console = System.console();
    return begun.work() >= LONG && console != null && console.isTerminal();
  }

  /** For every better path: why it was not taken. Paths with the same reason are named together. */
  private static String whyNot(Demo.Setting setting) {
    Map<String, String> byReason = new LinkedHashMap<>();
    for (Path path : Path.values()) {
      if (path == setting.details().path()) {
        break;
      }
      Availability availability = setting.nic().path(path);
      byReason.merge(availability.reason(), path.toString(), (a, b) -> a + ", " + b);
    }
    StringBuilder text = new StringBuilder();
    byReason.forEach(
        (reason, paths) -> text.append("; not ").append(paths).append(": ").append(reason));
    return text.toString();
  }

  @Override
  public void moved(long bytes, DemoRow row) {
    if (progress != null) {
      progress.add(bytes, row.title());
    }
  }

  @Override
  public void finished(DemoRow row) {
    if (!options.json()) {
      if (progress != null) {
        progress.clear();
      }
      table.row(row.cells());
    }
  }

  private Map<String, Object> json(
      Demo demo, SourceFile file, String sha256, double seconds, long peak, boolean all) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("file", file.path().toString());
    map.put("bytes", file.size());
    map.put("sha256", sha256);
    if (setting != null) {
      map.put("nic", setting.nic().name());
      map.put("path", setting.details().path().toString());
      map.put("pathDetails", setting.details().toString());
      map.put("pathsNotTaken", InfoCommand.paths(setting.nic(), setting.details().path()));
      map.put("initiator", setting.initiator());
      map.put("queuePairs", setting.queuePairs());
      map.put("chunkBytes", setting.chunk());
      map.put("windowBytes", setting.window());
      map.put("copies", setting.copies());
    }
    map.put("rows", demo.rows().stream().map(DemoRow::json).toList());
    map.put("seconds", seconds);
    map.put("peakResidentBytes", peak);
    map.put("verified", all);
    return map;
  }
}
