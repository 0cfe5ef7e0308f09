// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.ArrayList;
import java.util.List;

/**
 * Not a test by itself: many queue pairs of all policies, a warp each, several NIC threads, payload
 * in pinned and in GPU memory, for more than a hundred million requests. Throws if one is lost or a
 * byte is wrong.
 *
 * <p>Arguments: queue pairs (132), rounds of a warp in a phase (2000), phases (12).
 */
final class GpuSoak {
  private static final int NIC_THREADS = 8;
  private static final List<HandOver> HAND_OVERS =
      List.of(
          HandOver.TURN,
          HandOver.BITMAP,
          HandOver.EXCLUSIVE,
          HandOver.CLASSIC,
          HandOver.TURN_LOAD_STORE);

  private GpuSoak() {}

  public static void main(String[] args) throws InterruptedException {
    int count = args.length > 0 ? Integer.parseInt(args[0]) : 132;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 2000;
    int phases = args.length > 2 ? Integer.parseInt(args[2]) : 12;
    String missing = GpuTest.Condition.missing(true);
    if (missing != null) {
      System.out.println("skipped, " + missing);
      return;
    }
    List<SubmitPolicy> policies = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      policies.add(SubmitPolicy.CLASSIC.handOver(HAND_OVERS.get(i % HAND_OVERS.size())));
    }
    try (Gpu gpu = Gpu.open(0)) {
      System.out.println(gpu + ", " + count + " queue pairs, " + NIC_THREADS + " NIC threads");
      soak(gpu, Payload.Kind.PINNED, policies, rounds, phases);
      soak(gpu, Payload.Kind.DEVICE, policies, Math.max(16, rounds / 10), 2);
    }
  }

  private static void soak(
      Gpu gpu, Payload.Kind kind, List<SubmitPolicy> policies, int rounds, int phases)
      throws InterruptedException {
    try (Storm storm = new Storm(gpu, kind, NIC_THREADS, 1024, 32, policies)) {
      double seconds = 0;
      for (int phase = 0; phase < phases; phase++) {
        byte[] bytes = storm.fill(phase);
        seconds += storm.run(rounds);
        storm.verify(bytes, rounds);
      }
      System.out.printf(
          "%s: %,d requests, 0 lost, 0 garbled, %.1f s, %.2f M/s%n",
          kind, storm.wqes(), seconds, storm.wqes() / seconds / 1e6);
    }
  }
}
