// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Plots of JMH's and perf's results. */
final class CpuFigures {
  private static final List<String> POLICIES =
      List.of("CLASSIC", "TURN", "TURN_LOAD_STORE", "BITMAP", "EXCLUSIVE");

  private final Results results;

  CpuFigures(Results results) {
    this.results = results;
  }

  List<Figure> all() {
    return Stream.of(rateByLanes(16), rateByLanes(64), alone(), call(), peers())
        .filter(Objects::nonNull)
        .toList();
  }

  private static double perRequest(JmhRow row) {
    return row.score() / Math.max(1, row.number("batch"));
  }

  private Figure rateByLanes(int batch) {
    List<JmhRow> rows =
        results.suite("SubmitPath").stream().filter(row -> row.number("batch") == batch).toList();
    if (rows.isEmpty()) {
      return null;
    }
    List<String> lanes = categories(rows, "lanes");
    Map<String, List<Double>> series =
        series(rows, "policy", POLICIES, "lanes", lanes, row -> 1e3 / perRequest(row));
    return new Figure(
        "rate-by-lanes-" + batch,
        Plots.lines(
            "CPU submit rate by lane threads, batches of " + batch,
            "lane threads",
            "million requests/s",
            false,
            series,
            lanes),
        "Lane threads share one queue; the submitting thread plays a NIC that is never late. More lane"
            + " threads than cores take turns on them. "
            + noise(rows));
  }

  private Figure alone() {
    List<JmhRow> rows =
        results.suite("SubmitAlone").stream().filter(row -> row.number("batch") == 1).toList();
    if (rows.isEmpty()) {
      return null;
    }
    List<String> policies = ordered(rows, "policy", POLICIES);
    return new Figure(
        "alone",
        Plots.bars(
            "CPU: one submit of one request, nobody else submitting",
            "hand-over",
            "ns",
            series(rows, "fence", List.of("SYSTEM", "DEVICE"), "policy", policies, JmhRow::score),
            policies),
        "The bare cost of each hand-over from Java, by fence mode. On x86-64 both modes need the same"
            + " instructions: what differs is noise. "
            + noise(rows));
  }

  private Figure call() {
    List<JmhRow> rows = results.suite("FfmCost");
    if (rows.isEmpty()) {
      return null;
    }
    List<String> batches = categories(rows, "batch");
    List<String> ways = List.of("c_loop", "jni", "ffm_critical", "ffm", "api");
    Map<String, List<Double>> series = new LinkedHashMap<>();
    for (String way : ways) {
      List<Double> values = new ArrayList<>();
      for (String batch : batches) {
        values.add(
            mean(
                rows.stream()
                    .filter(row -> row.method().equals(way) && row.param("batch").equals(batch))
                    .toList(),
                CpuFigures::perRequest));
      }
      if (values.stream().anyMatch(Objects::nonNull)) {
        series.put(way, values);
      }
    }
    return new Figure(
        "call",
        Plots.bars(
            "The same work called from C, JNI, FFM and the library's API",
            "requests a submit",
            "ns a request",
            series,
            batches),
        "One thread, EXCLUSIVE, a NIC that is never late. c_loop does the same calls inside one downcall."
            + " The API's row has all its checks. "
            + noise(rows));
  }

  private Figure peers() {
    List<JmhRow> ours = results.suite("PeerPut");
    List<JmhRow> theirs = results.suite("JucxPut");
    if (ours.isEmpty()) {
      return null;
    }
    List<String> sizes = categories(ours, "size");
    Map<String, List<Double>> series = new LinkedHashMap<>();
    put(series, "gpuverbs SOFT, one put", ours, "latency", sizes, 1);
    put(series, "JUCX shared memory, one put", theirs, "latency", sizes, 1);
    put(series, "gpuverbs SOFT, 64 puts: each", ours, "rate", sizes, 64);
    put(series, "JUCX shared memory, 64 puts: each", theirs, "rate", sizes, 64);
    return new Figure(
        "peers",
        Plots.lines("A put and the wait for it, by size", "bytes", "ns a put", true, series, sizes),
        "One process, one run. JUCX copies into shared memory on the calling thread; the software NIC is"
            + " a thread of its own, which reads a ring as a NIC does: its latency has two hand-overs"
            + " between threads. "
            + noise(Stream.concat(ours.stream(), theirs.stream()).toList()));
  }

  private static void put(
      Map<String, List<Double>> series,
      String name,
      List<JmhRow> rows,
      String method,
      List<String> sizes,
      int puts) {
    List<Double> values = new ArrayList<>();
    for (String size : sizes) {
      values.add(
          mean(
              rows.stream()
                  .filter(row -> row.method().equals(method) && row.param("size").equals(size))
                  .toList(),
              row -> row.score() / puts));
    }
    if (values.stream().anyMatch(Objects::nonNull)) {
      series.put(name, values);
    }
  }

  private static Map<String, List<Double>> series(
      List<JmhRow> rows,
      String by,
      List<String> order,
      String over,
      List<String> categories,
      ToDoubleFunction<JmhRow> value) {
    Map<String, List<Double>> series = new LinkedHashMap<>();
    for (String name : ordered(rows, by, order)) {
      List<Double> values = new ArrayList<>();
      for (String category : categories) {
        values.add(
            mean(
                rows.stream()
                    .filter(row -> row.param(by).equals(name) && row.param(over).equals(category))
                    .toList(),
                value));
      }
      series.put(name, values);
    }
    return series;
  }

  private static Double mean(List<JmhRow> rows, ToDoubleFunction<JmhRow> value) {
    return rows.isEmpty() ? null : rows.stream().mapToDouble(value).average().orElseThrow();
  }

  static List<String> categories(List<JmhRow> rows, String param) {
    return rows.stream()
        .map(row -> row.param(param))
        .distinct()
        .sorted((a, b) -> Long.compare(Long.parseLong(a), Long.parseLong(b)))
        .toList();
  }

  private static List<String> ordered(List<JmhRow> rows, String param, List<String> order) {
    return order.stream()
        .filter(name -> rows.stream().anyMatch(row -> row.param(param).equals(name)))
        .toList();
  }

  /** The typical range of the iterations. */
  static String noise(List<JmhRow> rows) {
    double[] all = rows.stream().mapToDouble(JmhRow::noise).sorted().toArray();
    return all.length == 0
        ? ""
        : String.format(
            Locale.ROOT,
            "Noise: iterations of a row lie within ±%.0f %% (median of the rows; the worst ±%.0f %%).",
            100 * all[all.length / 2],
            100 * all[all.length - 1]);
  }
}
