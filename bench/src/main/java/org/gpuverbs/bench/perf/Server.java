// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.lang.foreign.ValueLayout;
import org.gpuverbs.SubmitPolicy;

/** The side that is written to, read from and sent to. One thread. */
final class Server {
  static final int SEED = 101;

  private Server() {}

  /** Serves one client to its end. */
  static void serve(Channel channel, NicChoice choice) {
    Plan plan = Plan.fromBytes(channel.exchange(new byte[] {Plan.VERSION}));
    String problem = "";
    Side made = null;
    try {
      made = new Side(plan, SubmitPolicy.TURN, choice, null);
    } catch (RuntimeException | OutOfMemoryError e) {
      problem = Words.of(e);
    }
    try (Side side = made) {
      Words.agree(channel, problem);
      side.connect(channel);
      for (int size : plan.sizes()) {
        row(channel, side, size);
      }
    }
  }

  private static void row(Channel channel, Side side, int size) {
    side.prepare(size, SEED);
    try (Responder responder = new Responder(side, size)) {
      Words.agree(channel, "");
      String[] counts = Words.say(channel, "").split(",", -1);
      if (counts.length != side.queuePairs.size()) {
        throw new PerfException("the client: " + String.join(",", counts));
      }
      String problem = "";
      try {
        long total = 0;
        for (String count : counts) {
          total += Long.parseLong(count);
        }
        responder.finish(total);
        problem = verify(side, size, counts);
      } catch (RuntimeException e) {
        problem = Words.of(e);
      }
      Words.agree(channel, problem);
    }
  }

  /** What arrived here, compared with what the client sent. Empty if it is right. */
  private static String verify(Side side, int size, String[] counts) {
    for (int i = 0; i < counts.length; i++) {
      var arrived = side.inSlot(i, size);
      long sent = Long.parseLong(counts[i]);
      if (side.plan.test().atomic()) {
        long counted = arrived.get(ValueLayout.JAVA_LONG, 0);
        if (counted != sent) {
          return "queue pair " + i + " counted " + counted + " of " + sent + " fetch-adds";
        }
      } else if (side.plan.validate() && !side.plan.test().read() && sent > 0) {
        long at =
            Pattern.mismatch(
                arrived, Client.SEED + i, side.plan.test() == PerfTest.WRITE_LAT ? 1 : 0);
        if (at >= 0) {
          return "queue pair " + i + ": byte " + at + " of " + size + " arrived wrong";
        }
      }
    }
    return "";
  }
}
