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

/** Plots of bench/gpu's results. */
final class GpuFigures {
  private static final List<String> POLICIES =
      List.of(
          "classic", "turn_cas", "turn_ldst", "bitmap", "exclusive", "seed_always", "seed_every_4");

  private final Results results;

  GpuFigures(Results results) {
    this.results = results;
  }

  List<Figure> all() {
    return results.gpu.isEmpty()
        ? List.of()
        : Stream.of(byThreads(), fences(), manyQueues()).filter(Objects::nonNull).toList();
  }

  private List<GpuRow> select(String placement, boolean one) {
    return results.gpu.stream()
        .filter(
            row ->
                row.placement().equals(placement)
                    && (row.queues() == 1) == one
                    && POLICIES.contains(row.policy()))
        .toList();
  }

  private Figure byThreads() {
    List<GpuRow> rows =
        select("G", true).stream().filter(row -> row.mode().equals("DEVICE")).toList();
    if (rows.isEmpty()) {
      return null;
    }
    List<String> threads =
        rows.stream().map(GpuRow::threads).distinct().sorted().map(String::valueOf).toList();
    Map<String, List<Double>> series = new LinkedHashMap<>();
    for (String policy : POLICIES) {
      List<Double> values = new ArrayList<>();
      for (String count : threads) {
        values.add(
            mean(
                rows.stream()
                    .filter(
                        row ->
                            row.policy().equals(policy) && row.threads() == Integer.parseInt(count))
                    .toList(),
                GpuRow::rate));
      }
      if (values.stream().anyMatch(Objects::nonNull)) {
        series.put(policy, values);
      }
    }
    return new Figure(
        "gpu-rate-by-threads",
        Plots.lines(
            "GPU submit rate by threads, one queue",
            "threads",
            "million requests/s",
            true,
            series,
            threads),
        "Queue in GPU memory, fences at device scope. The seed rows submit one request a thread; the"
            + " others make one reservation a warp. "
            + noise(rows));
  }

  /** What a warp's submit costs by fence mode. */
  private Figure fences() {
    // The seed's call is one request of one thread, so its cycles would not compare.
    List<GpuRow> rows =
        select("G", true).stream()
            .filter(row -> row.threads() == 32 && !row.policy().startsWith("seed"))
            .toList();
    return bars(
        "gpu-fences",
        rows,
        "Cost of fences and hand-over on the GPU: one submit by one warp",
        "cycles a call",
        GpuRow::cycles,
        List.of("SYSTEM", "DEVICE"),
        GpuRow::mode,
        "One warp, one queue in GPU memory: nobody to hand over to, so this is the bare path."
            + " SYSTEM is what a NIC on another device needs.");
  }

  private Figure manyQueues() {
    List<GpuRow> rows = new ArrayList<>(select("G", false));
    rows.addAll(select("H", false));
    return bars(
        "gpu-many-queues",
        rows,
        "GPU submit rate, 132 queues of one warp each",
        "million requests/s",
        GpuRow::rate,
        List.of("DEVICE, GPU memory", "SYSTEM, GPU memory", "SYSTEM, host memory"),
        row -> row.mode() + (row.placement().equals("H") ? ", host memory" : ", GPU memory"),
        "Where the queue lies decides: host memory is reached through PCIe, and its drain runs on the"
            + " host's cores.");
  }

  private interface Name {
    String of(GpuRow row);
  }

  private static Figure bars(
      String id,
      List<GpuRow> rows,
      String title,
      String unit,
      ToDoubleFunction<GpuRow> value,
      List<String> names,
      Name name,
      String caption) {
    if (rows.isEmpty()) {
      return null;
    }
    List<String> policies =
        POLICIES.stream()
            .filter(policy -> rows.stream().anyMatch(row -> row.policy().equals(policy)))
            .toList();
    Map<String, List<Double>> series = new LinkedHashMap<>();
    for (String each : names) {
      List<Double> values = new ArrayList<>();
      for (String policy : policies) {
        values.add(
            mean(
                rows.stream()
                    .filter(row -> row.policy().equals(policy) && name.of(row).equals(each))
                    .toList(),
                value));
      }
      if (values.stream().anyMatch(Objects::nonNull)) {
        series.put(each, values.stream().map(v -> v == null ? Double.valueOf(0) : v).toList());
      }
    }
    return new Figure(
        id, Plots.bars(title, "hand-over", unit, series, policies), caption + " " + noise(rows));
  }

  private static Double mean(List<GpuRow> rows, ToDoubleFunction<GpuRow> value) {
    return rows.isEmpty() ? null : rows.stream().mapToDouble(value).average().orElseThrow();
  }

  static String noise(List<GpuRow> rows) {
    double[] all =
        rows.stream()
            .mapToDouble(row -> (row.high() - row.low()) / 2 / row.rate())
            .sorted()
            .toArray();
    return all.length == 0
        ? ""
        : String.format(
            Locale.ROOT,
            "Noise: the five runs of a row lie within ±%.1f %% (median of the rows; the worst ±%.0f %%).",
            100 * all[all.length / 2],
            100 * all[all.length - 1]);
  }
}
