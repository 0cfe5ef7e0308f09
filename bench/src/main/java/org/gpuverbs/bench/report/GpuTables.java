// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Tables of bench/gpu's rates. */
final class GpuTables {
  private static final List<String> SHARED =
      List.of("turn_cas", "bitmap", "classic", "classic_every_128", "turn_ldst");
  private static final List<Integer> THREADS = List.of(1, 32, 128, 1024, 4096);

  /** What a row shows: the fastest of some policies in one case. */
  private record Case(
      String title,
      String placement,
      String mode,
      int queues,
      int threads,
      List<String> policies) {}

  private static final List<Case> CASES =
      List.of(
          new Case("1 thread, shared queue", "G", "DEVICE", 1, 1, SHARED),
          new Case("1 thread, EXCLUSIVE", "G", "DEVICE", 1, 1, List.of("exclusive")),
          new Case("1 warp, shared queue", "G", "DEVICE", 1, 32, SHARED),
          new Case("1 warp, EXCLUSIVE", "G", "DEVICE", 1, 32, List.of("exclusive")),
          new Case("128 threads", "G", "DEVICE", 1, 128, SHARED),
          new Case("1024 threads", "G", "DEVICE", 1, 1024, SHARED),
          new Case(
              "1024 threads, block scope",
              "G",
              "DEVICE",
              1,
              1024,
              List.of("turn_cas_block", "bitmap_block")),
          new Case("4096 threads", "G", "DEVICE", 1, 4096, SHARED),
          new Case("132 queues, a warp each, shared", "N", "DEVICE", 132, 32, SHARED),
          new Case(
              "132 queues, a warp each, EXCLUSIVE", "N", "DEVICE", 132, 32, List.of("exclusive")),
          new Case("ring in host memory, 1 warp", "H", "SYSTEM", 1, 32, SHARED),
          new Case(
              "ring in host memory, 1024 threads, block scope",
              "H",
              "SYSTEM",
              1,
              1024,
              List.of("turn_cas_block")),
          new Case(
              "the seed path, always, 1024 threads",
              "G",
              "DEVICE",
              1,
              1024,
              List.of("seed_always")),
          new Case(
              "the seed path, every 4th, 1024 threads",
              "G",
              "DEVICE",
              1,
              1024,
              List.of("seed_every_4")));

  private final List<GpuRow> rates;

  GpuTables(List<GpuRow> rates) {
    this.rates = rates;
  }

  List<TableData> all() {
    return rates.isEmpty() ? List.of() : List.of(fastest(), costs());
  }

  private TableData fastest() {
    List<List<String>> rows = new ArrayList<>();
    for (Case each : CASES) {
      each.policies().stream()
          .flatMap(policy -> find(policy, each.mode(), each).stream())
          .max(Comparator.comparingDouble(GpuRow::rate))
          .ifPresent(
              best ->
                  rows.add(
                      List.of(
                          each.title(),
                          "`" + best.policy() + "`",
                          rate(best.rate()),
                          find(best.policy(), "SYSTEM", each).map(r -> rate(r.rate())).orElse("-"),
                          String.format(Locale.ROOT, "%.0f", best.cycles()),
                          String.format(Locale.ROOT, "%.4f", best.doorbells()),
                          String.format(
                              Locale.ROOT,
                              "±%.1f %%",
                              50 * (best.high() - best.low()) / best.rate()))));
    }
    return new TableData(
        "gpu-rates",
        "GPU submit rates, 64-byte WRITEs",
        "Medians of five runs; noise is half of their range.",
        List.of(
            "submitters",
            "fastest",
            "M WQEs/s",
            "the same in mode SYSTEM",
            "cycles a call",
            "doorbells a WQE",
            "noise"),
        rows);
  }

  private Optional<GpuRow> find(String policy, String mode, Case each) {
    return find(policy, mode, each.placement(), each.queues(), each.threads());
  }

  private Optional<GpuRow> find(
      String policy, String mode, String placement, int queues, int threads) {
    return rates.stream()
        .filter(
            row ->
                row.policy().equals(policy)
                    && row.mode().equals(mode)
                    && row.placement().equals(placement)
                    && row.queues() == queues
                    && row.threads() == threads)
        .findFirst();
  }

  /** What each choice costs: by policy and fence mode, one queue in GPU memory. */
  private TableData costs() {
    List<List<String>> rows = new ArrayList<>();
    for (String policy :
        List.of(
            "exclusive",
            "turn_cas",
            "turn_cas_always",
            "turn_ldst",
            "bitmap",
            "classic",
            "classic_every_128",
            "seed_always",
            "seed_every_4")) {
      for (String mode : List.of("DEVICE", "SYSTEM")) {
        List<String> row = new ArrayList<>(List.of("`" + policy + "`", mode));
        for (int threads : THREADS) {
          row.add(find(policy, mode, "G", 1, threads).map(r -> rate(r.rate())).orElse("-"));
        }
        if (row.stream().skip(2).anyMatch(cell -> !cell.equals("-"))) {
          rows.add(row);
        }
      }
    }
    return new TableData(
        "gpu-costs",
        "What fences and hand-over cost on the GPU, M WQEs/s",
        "One queue in GPU memory.",
        List.of(
            "policy", "mode", "1 thread", "1 warp", "128 threads", "1024 threads", "4096 threads"),
        rows);
  }

  private static String rate(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value);
  }
}
