// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.nio.charset.StandardCharsets;

/** Short texts between the two sides: what went wrong, or that nothing did. */
final class Words {
  private static final int MAX = 2000;

  private Words() {}

  /** Both say what went wrong on their side; either's problem ends both. */
  static void agree(Channel channel, String problem) {
    String theirs = say(channel, problem);
    if (!problem.isEmpty()) {
      throw new PerfException(problem);
    }
    if (!theirs.isEmpty()) {
      throw new PerfException("the other side: " + theirs);
    }
  }

  static String say(Channel channel, String text) {
    String cut = text.length() > MAX ? text.substring(0, MAX) : text;
    return new String(
        channel.exchange(cut.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
  }

  static String of(Throwable problem) {
    return problem.getMessage() == null ? problem.toString() : problem.getMessage();
  }
}
