// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Plots and tables of sends after device work. */
final class DeferredFigures {
  private static final List<String> WAYS = List.of("BLOCKING", "DEFERRED", "IN_STREAM");
  private static final String SENDS = "sendsPerSecond";
  private static final String AVAILABLE = "availablePercent";

  private final Results results;

  DeferredFigures(Results results) {
    this.results = results;
  }

  List<Figure> all() {
    return Stream.of(
            overDecomposed(
                "over-decomposed-sends",
                "Over-decomposed schedulers: sends after 1 ms of device work",
                "sends/s",
                row -> row.secondary().getOrDefault(SENDS, 0.0)),
            overDecomposed(
                "over-decomposed-available",
                "Over-decomposed schedulers: time left for other work",
                "% of the scheduler's time",
                row -> row.secondary().getOrDefault(AVAILABLE, 0.0)))
        .filter(Objects::nonNull)
        .toList();
  }

  List<TableData> tables() {
    return Stream.of(ways(), costs()).filter(Objects::nonNull).toList();
  }

  private Figure overDecomposed(
      String id, String title, String unit, ToDoubleFunction<JmhRow> value) {
    List<JmhRow> rows = results.suite("OverDecomposed");
    if (rows.isEmpty()) {
      return null;
    }
    List<String> tasks = CpuFigures.categories(rows, "tasks");
    Map<String, List<Double>> series = new LinkedHashMap<>();
    for (String way : WAYS) {
      List<Double> values = new ArrayList<>();
      for (String count : tasks) {
        values.add(
            rows.stream()
                .filter(row -> row.param("way").equals(way) && row.param("tasks").equals(count))
                .mapToDouble(value)
                .average()
                .orElse(0));
      }
      series.put(way, values);
    }
    return new Figure(
        id,
        Plots.lines(title, "tasks a scheduler", unit, false, series, tasks),
        "A timer stands in for the device. BLOCKING waits for the stream and submits; DEFERRED marks it"
            + " and submits when a pass finds the mark reached; IN_STREAM lets the stream submit.");
  }

  private TableData ways() {
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow row : results.suite("OverDecomposed")) {
      rows.add(
          List.of(
              row.param("way"),
              row.param("schedulers"),
              row.param("tasks"),
              Tables.number(row.secondary().getOrDefault(SENDS, Double.NaN), 0),
              Tables.number(row.secondary().getOrDefault(AVAILABLE, Double.NaN), 1)));
    }
    return rows.isEmpty()
        ? null
        : new TableData(
            "over-decomposed",
            "Over-decomposed schedulers: tasks alternate 1 ms of device work and a send",
            "Available: share of the schedulers' time outside of calls that send, wait or poll. A timer"
                + " stands in for the device.",
            List.of("way", "schedulers", "tasks each", "sends/s", "available %"),
            rows);
  }

  private TableData costs() {
    List<List<String>> rows = new ArrayList<>();
    for (JmhRow row :
        Stream.concat(
                results.suite("DeferredSends").stream(), results.suite("DeferredHarvest").stream())
            .toList()) {
      rows.add(
          List.of(
              row.method(),
              percentile(row, 0),
              percentile(row, 50),
              percentile(row, 90),
              Tables.number(row.bytesPerOperation(), 2)));
    }
    return rows.isEmpty()
        ? null
        : new TableData(
            "deferred-costs",
            "What a deferred send costs, ns",
            "Of bursts, divided by their length. fastPath and hostOnly submit within the call, deferredCall"
                + " marks, copies and leaves the rest to doWork, which pays harvest when it is complete.",
            List.of("call", "least", "median", "90 %", "B/send"),
            rows);
  }

  private static String percentile(JmhRow row, double percent) {
    return Tables.number(row.percentiles().getOrDefault(percent, Double.NaN), 0);
  }
}
