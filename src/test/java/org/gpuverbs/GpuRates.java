// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * Not a test by itself: requests of 64 bytes a second from kernels through the software NIC, copies
 * and completions included; every run's bytes and counts are checked. One line a case: median,
 * lowest and highest of five runs after two warm-ups, from launch until all is done.
 *
 * <p>Arguments: requests of a run in pinned memory (2000000), seconds in all (90). The first
 * warm-up tells how many requests a run has time for; a case that would begin when the time is over
 * is named, and not measured.
 */
final class GpuRates {
  private static final int RUNS = 5;

  /** 28 cases of 7 runs, and what each case has to set up, within 90 s. */
  private static final Duration RUN = Duration.ofMillis(250);

  /** Storm checks each of its slots. */
  private static final int LEAST_ROUNDS = 16;

  private static final int DEVICE_SHARE = 100;
  private static final List<HandOver> HAND_OVERS =
      List.of(HandOver.TURN, HandOver.BITMAP, HandOver.TURN_LOAD_STORE, HandOver.CLASSIC);

  private GpuRates() {}

  public static void main(String[] args) throws InterruptedException {
    int wanted = args.length > 0 ? Integer.parseInt(args[0]) : 2_000_000;
    int seconds = args.length > 1 ? Integer.parseInt(args[1]) : 90;
    String missing = GpuTest.Condition.missing(true);
    if (missing != null) {
      System.out.println("skipped, " + missing);
      return;
    }
    System.out.println(
        "payload,policy,queue_pairs,nic_threads,threads,requests_a_run,median_mwqes,lowest,highest,"
            + "doorbells_per_wqe,seconds_of_the_case");
    Budget budget = new Budget(Duration.ofSeconds(seconds), RUN);
    try (Gpu gpu = Gpu.open(0)) {
      for (Payload.Kind kind : new Payload.Kind[] {Payload.Kind.PINNED, Payload.Kind.DEVICE}) {
        int requests = kind == Payload.Kind.PINNED ? wanted : wanted / DEVICE_SHARE;
        measure(budget, gpu, kind, 1, 1, 32, SubmitPolicy.EXCLUSIVE, requests);
        for (HandOver handOver : HAND_OVERS) {
          SubmitPolicy policy = SubmitPolicy.CLASSIC.handOver(handOver);
          for (int threads : new int[] {32, 128, 1024}) {
            if (kind == Payload.Kind.PINNED || handOver == HandOver.TURN) {
              measure(budget, gpu, kind, 1, 1, threads, policy, requests);
            }
          }
        }
        if (kind == Payload.Kind.PINNED) {
          measure(budget, gpu, kind, 1, 1, 4096, SubmitPolicy.TURN, requests / 4);
          measure(
              budget, gpu, kind, 1, 1, 4096, SubmitPolicy.TURN.doorbellEvery(1024), requests / 4);
          measure(budget, gpu, kind, 1, 1, 4096, SubmitPolicy.BITMAP, requests / 4);
        }
        measure(budget, gpu, kind, 1, 1, 1024, SubmitPolicy.TURN.doorbellEvery(64), requests);
        measure(budget, gpu, kind, 8, 8, 128, SubmitPolicy.TURN, 4 * requests);
        measure(budget, gpu, kind, 132, 8, 32, SubmitPolicy.TURN, 4 * requests);
        measure(budget, gpu, kind, 132, 8, 32, SubmitPolicy.EXCLUSIVE, 4 * requests);
      }
    }
  }

  private static void measure(
      Budget budget,
      Gpu gpu,
      Payload.Kind kind,
      int queuePairs,
      int nicThreads,
      int threads,
      SubmitPolicy policy,
      int requests)
      throws InterruptedException {
    if (budget.isOver()) {
      System.out.printf(
          "# not measured, the time was over: %s,%s,%d,%d,%d%n",
          kind, policy, queuePairs, nicThreads, threads);
      return;
    }
    int wanted = Math.max(LEAST_ROUNDS, requests / threads / queuePairs);
    long began = System.nanoTime();
    try (Storm storm =
        new Storm(gpu, kind, nicThreads, 8192, threads, Collections.nCopies(queuePairs, policy))) {
      int first = Math.max(LEAST_ROUNDS, wanted / 8);
      byte[] warm = storm.fill(RUNS);
      double took = storm.run(first);
      storm.verify(warm, first);
      int rounds = budget.rounds(wanted, LEAST_ROUNDS, first, took);
      double[] rates = new double[RUNS];
      for (int run = -1; run < RUNS; run++) {
        byte[] bytes = storm.fill(run);
        double seconds = storm.run(rounds);
        storm.verify(bytes, rounds);
        if (run >= 0) {
          rates[run] = (double) storm.threads() * (rounds + 1) / seconds / 1e6;
        }
      }
      Arrays.sort(rates);
      System.out.printf(
          Locale.ROOT,
          "%s,%s,%d,%d,%d,%d,%.2f,%.2f,%.2f,%.4f,%.1f%n",
          kind,
          policy,
          queuePairs,
          nicThreads,
          threads,
          storm.threads() * (rounds + 1),
          rates[RUNS / 2],
          rates[0],
          rates[RUNS - 1],
          storm.doorbellsPerWqe(),
          (System.nanoTime() - began) / 1e9);
    }
  }
}
