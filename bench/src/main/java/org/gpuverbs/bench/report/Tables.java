// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

/** The tables of the page and of the README. */
final class Tables {
  private static final int THROUGHPUT_BATCH = 64;
  private static final int DRAIN_BATCH = 16;

  private final Results results;

  Tables(Results results) {
    this.results = results;
  }

  List<TableData> all() {
    List<TableData> deferred = new DeferredFigures(results).tables();
    Stream<TableData> others =
        Stream.of(
            throughput(),
            call(),
            callRatios(),
            peers(),
            drain(),
            latency(),
            registration(),
            perfBandwidth(),
            perfLatency(),
            soak(),
            everything());
    Stream<TableData> gpu = new GpuTables(results.gpu).all().stream();
    return Stream.of(others, deferred.stream(), gpu)
        .flatMap(each -> each)
        .filter(Objects::nonNull)
        .toList();
  }

  /** Those that fit into a README. */
  List<TableData> brief() {
    return Stream.concat(
            Stream.of(throughput(), call(), peers()),
            new DeferredFigures(results).tables().stream())
        .filter(Objects::nonNull)
        .toList();
  }

  TableData throughput() {
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow row : results.suite("SoftNicThroughput")) {
      String what = row.param("what");
      int size = what.endsWith("64K") ? 65536 : 64;
      double rate = THROUGHPUT_BATCH * 1e3 / row.score();
      rows.add(
          List.of(
              what,
              number(rate, 2),
              number(rate * size / 1e3, 2),
              number(row.doorbellsPerRequest(), 4),
              number(row.bytesPerOperation(), 2),
              noise(row)));
    }
    return table(
        "throughput",
        "Software NIC, WRITEs of 64 B (64K: 64 KiB), from submit to completion",
        "Rates include access checks, credit, completions and statuses. Batches of 64.",
        List.of("case", "million/s", "GB/s", "doorbells/WRITE", "B/submit", "noise"),
        rows);
  }

  TableData call() {
    List<JmhRow> all = results.suite("FfmCost");
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow row : all) {
      double base =
          all.stream()
              .filter(
                  each ->
                      each.method().equals("c_loop")
                          && each.param("batch").equals(row.param("batch")))
              .mapToDouble(JmhRow::score)
              .findFirst()
              .orElse(Double.NaN);
      rows.add(
          List.of(
              row.method(),
              row.param("batch"),
              number(row.score(), 1),
              number(row.score() / row.number("batch"), 2),
              number(row.score() / base, 2),
              number(row.bytesPerOperation(), 2),
              noise(row)));
    }
    return table(
        "call-table",
        "What calling from Java costs",
        "Ratio: time against the C loop's of the same batch, in one run.",
        List.of(
            "called from", "batch", "ns/submit", "ns/request", "ratio to C", "B/submit", "noise"),
        rows);
  }

  /** The same, a line a batch. */
  private TableData callRatios() {
    List<JmhRow> all = results.suite("FfmCost");
    List<String> ways = List.of("ffm", "ffm_critical", "jni", "api");
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow base : all) {
      if (!base.method().equals("c_loop")) {
        continue;
      }
      List<String> row = new ArrayList<>(List.of(base.param("batch"), number(base.score(), 1)));
      double worst = base.noise();
      for (String way : ways) {
        JmhRow other =
            all.stream()
                .filter(
                    each ->
                        each.method().equals(way)
                            && each.param("batch").equals(base.param("batch")))
                .findFirst()
                .orElse(null);
        row.add(other == null ? "" : number(other.score() / base.score(), 2));
        worst = other == null ? worst : Math.max(worst, other.noise());
      }
      row.add(String.format(Locale.ROOT, "±%.0f %%", 100 * worst));
      rows.add(row);
    }
    return table(
        "call-ratios",
        "What calling from Java costs: times the C loop's time",
        "Noise: the worst of the row.",
        List.of("batch", "C loop, ns", "FFM", "FFM critical", "JNI", "submit", "noise"),
        rows);
  }

  TableData peers() {
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow row : results.suite("PeerPut")) {
      JmhRow theirs =
          results.suite("JucxPut").stream()
              .filter(
                  each ->
                      each.method().equals(row.method())
                          && each.param("size").equals(row.param("size")))
              .findFirst()
              .orElse(null);
      int puts = row.method().equals("rate") ? 64 : 1;
      rows.add(
          List.of(
              row.method().equals("rate") ? "64 puts, each" : "one put",
              row.param("size"),
              number(row.score() / puts, 0),
              theirs == null ? "not measured" : number(theirs.score() / puts, 0),
              noise(row),
              theirs == null ? "" : noise(theirs)));
    }
    return table(
        "peers-table",
        "Put over shared memory: this library's software NIC, and JUCX",
        "ns until the completion. JUCX copies on the calling thread; the software NIC is another thread."
            + (results.absent.isEmpty()
                ? ""
                : " Not measured: " + String.join("; ", results.absent)),
        List.of("put", "bytes", "gpuverbs SOFT ns", "JUCX ns", "noise", "noise of JUCX"),
        rows);
  }

  TableData drain() {
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow row : results.suite("SoftNicDrain")) {
      String operation = row.params().getOrDefault("operation", "SEND");
      String size = row.params().getOrDefault("size", operation.equals("NOP") ? "0" : "8");
      double each = row.score() / DRAIN_BATCH;
      rows.add(
          List.of(
              operation,
              size,
              number(each, 1),
              number(1e3 / each, 2),
              number(Double.parseDouble(size) / each, 2),
              number(row.bytesPerOperation(), 2),
              noise(row)));
    }
    return table(
        "drain",
        "Software NIC: drain by operation and size",
        "Batches of 16 from the calling thread.",
        List.of("operation", "bytes", "ns each", "million/s", "GB/s", "B/submit", "noise"),
        rows);
  }

  TableData latency() {
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow row : results.suite("SoftNicLatency")) {
      rows.add(
          List.of(
              row.param("operation"),
              row.param("size"),
              number(row.score(), 0),
              number(row.percentiles().getOrDefault(50.0, Double.NaN), 0),
              number(row.percentiles().getOrDefault(99.0, Double.NaN), 0),
              number(row.percentiles().getOrDefault(99.9, Double.NaN), 0)));
    }
    return table(
        "latency",
        "Software NIC: from submit to completion, ns",
        "One request at a time; the NIC's thread has to notice the doorbell.",
        List.of("operation", "bytes", "mean", "50 %", "99 %", "99.9 %"),
        rows);
  }

  TableData registration() {
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow row : results.suite("Registration")) {
      rows.add(List.of(row.method(), row.param("size"), number(row.score(), 2), noise(row)));
    }
    return table(
        "registration",
        "Memory registration with the software NIC, and the closing of it",
        "allocate also zeroes the memory and gives it back.",
        List.of("call", "bytes", "microseconds", "noise"),
        rows);
  }

  private TableData perfBandwidth() {
    List<List<String>> rows = new ArrayList<>();
    for (JsonObject perf : results.perf) {
      for (JsonElement each : perf.getAsJsonArray("rows")) {
        JsonObject row = each.getAsJsonObject();
        if (row.has("averageMiBps")) {
          rows.add(
              List.of(
                  perf.get("test").getAsString(),
                  row.get("bytes").getAsString(),
                  row.get("iterations").getAsString(),
                  number(row.get("peakMiBps").getAsDouble(), 2),
                  number(row.get("averageMiBps").getAsDouble(), 2),
                  number(row.get("millionPerSecond").getAsDouble(), 6),
                  row.get("verified").getAsString()));
        }
      }
    }
    return table(
        "perf-bandwidth",
        "perf: bandwidth",
        "",
        List.of(
            "test",
            "#bytes",
            "#iterations",
            "BW peak[MiB/sec]",
            "BW average[MiB/sec]",
            "MsgRate[Mpps]",
            "verified"),
        rows);
  }

  private TableData perfLatency() {
    List<List<String>> rows = new ArrayList<>();
    for (JsonObject perf : results.perf) {
      for (JsonElement each : perf.getAsJsonArray("rows")) {
        JsonObject row = each.getAsJsonObject();
        if (row.has("typical")) {
          List<String> cells = new ArrayList<>();
          cells.add(perf.get("test").getAsString());
          cells.add(row.get("bytes").getAsString());
          cells.add(row.get("iterations").getAsString());
          for (String name :
              List.of("min", "max", "typical", "average", "deviation", "p99", "p999")) {
            cells.add(number(row.get(name).getAsDouble(), 2));
          }
          cells.add(row.get("verified").getAsString());
          rows.add(cells);
        }
      }
    }
    return table(
        "perf-latency",
        "perf: latency, usec",
        "",
        List.of(
            "test",
            "#bytes",
            "#iterations",
            "t_min",
            "t_max",
            "t_typical",
            "t_avg",
            "t_stdev",
            "99%",
            "99.9%",
            "verified"),
        rows);
  }

  private TableData soak() {
    List<List<String>> rows = new ArrayList<>();
    for (String[] f : results.soak) {
      if (f.length >= 12) {
        rows.add(List.of(f[0], f[1], f[2], f[3], f[4], f[6], f[7], f[8], f[11]));
      }
    }
    return table(
        "soak",
        "GPU soak: every request checked",
        "",
        List.of(
            "policy",
            "fences",
            "placement",
            "queues",
            "threads",
            "requests",
            "lost",
            "garbled",
            "verdict"),
        rows);
  }

  private TableData everything() {
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow row : results.jmh) {
      rows.add(
          List.of(
              row.title(),
              number(row.score(), 2),
              row.unit(),
              number(row.low(), 2),
              number(row.high(), 2),
              number(row.doorbellsPerRequest(), 4),
              number(row.bytesPerOperation(), 3)));
    }
    return table(
        "all",
        "Every JMH row",
        "An operation is one batch. Lowest and highest: of the iterations.",
        List.of("benchmark", "score", "unit", "lowest", "highest", "doorbells/request", "B/op"),
        rows);
  }

  private static TableData table(
      String id, String title, String note, List<String> columns, List<List<String>> rows) {
    return rows.isEmpty() ? null : new TableData(id, title, note, columns, rows);
  }

  private static String noise(JmhRow row) {
    return String.format(Locale.ROOT, "±%.0f %%", 100 * row.noise());
  }

  static String number(double value, int digits) {
    return Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%,." + digits + "f", value);
  }
}
