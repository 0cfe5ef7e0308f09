// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Plots of perf's results. */
final class PerfFigures {
  private final Results results;

  PerfFigures(Results results) {
    this.results = results;
  }

  List<Figure> all() {
    return Stream.of(latency(), bandwidth()).filter(Objects::nonNull).toList();
  }

  private Figure latency() {
    Map<String, List<double[]>> series = new LinkedHashMap<>();
    for (JsonObject perf : results.perf) {
      String test = perf.get("test").getAsString();
      if (!test.endsWith("_lat")) {
        continue;
      }
      for (JsonElement each : perf.getAsJsonArray("rows")) {
        JsonObject row = each.getAsJsonObject();
        List<double[]> points = new ArrayList<>();
        double last = -1;
        for (JsonElement point : row.getAsJsonArray("cdf")) {
          double us = point.getAsJsonObject().get("us").getAsDouble();
          double percentile = point.getAsJsonObject().get("percentile").getAsDouble();
          // The longest of all is in the table; on the axis it would hide the rest.
          if (us > 0 && percentile < 100 && us >= last) {
            points.add(new double[] {us, percentile});
            last = us;
          }
        }
        if (points.size() > 1) {
          series.putIfAbsent(
              test + " " + row.get("bytes").getAsInt() + " B, " + path(perf), points);
        }
      }
    }
    return series.isEmpty()
        ? null
        : new Figure(
            "latency-cdf",
            Plots.curves("Latency, cumulative", "microseconds", "% of the messages", series, true),
            "perf, one message at a time. WRITE and SEND: half of the round trip between two threads;"
                + " READ and atomics: until the completion. Up to the 99.99th percentile.");
  }

  private static String path(JsonObject perf) {
    return perf.get("path").getAsString();
  }

  private Figure bandwidth() {
    TreeMap<Integer, Map<String, Double>> bySize = new TreeMap<>();
    Map<String, List<Double>> series = new LinkedHashMap<>();
    for (JsonObject perf : results.perf) {
      String test = perf.get("test").getAsString();
      if (!test.endsWith("_bw") || test.startsWith("atomic")) {
        continue;
      }
      String name = test + ", " + path(perf);
      for (JsonElement each : perf.getAsJsonArray("rows")) {
        JsonObject row = each.getAsJsonObject();
        bySize
            .computeIfAbsent(row.get("bytes").getAsInt(), size -> new LinkedHashMap<>())
            .put(name, row.get("averageMiBps").getAsDouble() / 1024);
        series.putIfAbsent(name, new ArrayList<>());
      }
    }
    if (bySize.size() < 2) {
      return null;
    }
    List<String> sizes = new ArrayList<>();
    for (Map.Entry<Integer, Map<String, Double>> entry : bySize.entrySet()) {
      sizes.add(size(entry.getKey()));
      series.forEach((name, values) -> values.add(entry.getValue().get(name)));
    }
    return new Figure(
        "bandwidth",
        Plots.lines("Bandwidth by message size", "bytes", "GiB/s", true, series, sizes),
        "perf, average from the first submit to the last completion.");
  }

  static String size(int bytes) {
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
      return (bytes >> 20) + "M";
    }
    return bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? (bytes >> 10) + "K" : bytes + "";
  }
}
