// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One result of JMH.
 *
 * @param suite class without its package
 * @param method benchmark method
 * @param params by name
 * @param score mean, in {@code unit}
 * @param low lowest iteration
 * @param high highest iteration
 * @param unit such as ns/op
 * @param percentiles of single operations, where JMH sampled them
 * @param secondary other metrics by name
 * @param bytesPerOperation allocated, in the iteration that allocated least; NaN if not measured.
 *     The last iteration's holds what the fixtures' end allocates, so it says nothing of an
 *     operation
 * @param operations of an iteration, roughly
 */
public record JmhRow(
    String suite,
    String method,
    Map<String, String> params,
    double score,
    double low,
    double high,
    String unit,
    Map<Double, Double> percentiles,
    Map<String, Double> secondary,
    double bytesPerOperation,
    double operations) {
  private static final String ALLOCATED = "gc.alloc.rate.norm";

  /**
   * Reads what JMH's -rf json wrote.
   *
   * @param results the array
   * @return a row for each element
   */
  public static List<JmhRow> all(JsonArray results) {
    List<JmhRow> rows = new ArrayList<>();
    for (JsonElement each : results) {
      rows.add(of(each.getAsJsonObject()));
    }
    return rows;
  }

  private static JmhRow of(JsonObject result) {
    String[] name = result.get("benchmark").getAsString().split("\\.");
    Map<String, String> params = new TreeMap<>();
    if (result.has("params")) {
      result
          .getAsJsonObject("params")
          .entrySet()
          .forEach(e -> params.put(e.getKey(), e.getValue().getAsString()));
    }
    JsonObject primary = result.getAsJsonObject("primaryMetric");
    double score = primary.get("score").getAsDouble();
    double low = score;
    double high = score;
    if (primary.has("rawData")) {
      for (JsonElement fork : primary.getAsJsonArray("rawData")) {
        for (JsonElement iteration : fork.getAsJsonArray()) {
          low = Math.min(low, iteration.getAsDouble());
          high = Math.max(high, iteration.getAsDouble());
        }
      }
    }
    Map<Double, Double> percentiles = new TreeMap<>();
    if (primary.has("scorePercentiles") && result.get("mode").getAsString().equals("sample")) {
      primary
          .getAsJsonObject("scorePercentiles")
          .entrySet()
          .forEach(e -> percentiles.put(Double.valueOf(e.getKey()), e.getValue().getAsDouble()));
    }
    Map<String, Double> secondary = new TreeMap<>();
    if (result.has("secondaryMetrics")) {
      result
          .getAsJsonObject("secondaryMetrics")
          .entrySet()
          .forEach(
              e ->
                  secondary.put(
                      e.getKey().replace("\u00b7", ""),
                      e.getValue().getAsJsonObject().get("score").getAsDouble()));
    }
    return new JmhRow(
        name[name.length - 2],
        name[name.length - 1],
        params,
        score,
        low,
        high,
        primary.get("scoreUnit").getAsString(),
        percentiles,
        secondary,
        allocated(result),
        seconds(result.get("measurementTime").getAsString())
            / seconds(score + " " + primary.get("scoreUnit").getAsString().replace("/op", "")));
  }

  private static double allocated(JsonObject result) {
    double least = Double.NaN;
    if (result.has("secondaryMetrics")) {
      for (var metric : result.getAsJsonObject("secondaryMetrics").entrySet()) {
        if (metric.getKey().endsWith(ALLOCATED)) {
          for (JsonElement fork : metric.getValue().getAsJsonObject().getAsJsonArray("rawData")) {
            for (JsonElement iteration : fork.getAsJsonArray()) {
              double bytes = iteration.getAsDouble();
              least = Double.isNaN(least) ? bytes : Math.min(least, bytes);
            }
          }
        }
      }
    }
    return least;
  }

  private static double seconds(String time) {
    String[] parts = time.split(" ");
    double unit =
        switch (parts[1]) {
          case "ns" -> 1e-9;
          case "us" -> 1e-6;
          case "ms" -> 1e-3;
          case "s" -> 1;
          case "m", "min" -> 60;
          default -> Double.NaN;
        };
    return Double.parseDouble(parts[0]) * unit;
  }

  /** Half of the range of the iterations, as a part of the score. */
  double noise() {
    return score == 0 ? 0 : (high - low) / 2 / score;
  }

  double doorbellsPerRequest() {
    double wqes = secondary.getOrDefault("wqes", 0.0);
    return wqes == 0 ? Double.NaN : secondary.getOrDefault("doorbells", 0.0) / wqes;
  }

  int number(String param) {
    return Integer.parseInt(params.getOrDefault(param, "0"));
  }

  String param(String name) {
    return params.getOrDefault(name, "");
  }

  /** Such as {@code FfmCost.api batch=16}. */
  public String title() {
    StringBuilder text = new StringBuilder(suite).append('.').append(method);
    params.forEach((name, value) -> text.append(' ').append(name).append('=').append(value));
    return text.toString();
  }
}
