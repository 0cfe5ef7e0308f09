// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.gpuverbs.HandOver;
import org.gpuverbs.SubmitPolicy;

/** The policies that the demo has rows for. */
enum DemoPolicy {
  CLASSIC("classic", "CLASSIC", SubmitPolicy.CLASSIC),
  /**
   * Four coalesced groups a doorbell: a smaller interval would make no difference, as a group is
   * rung once anyway.
   */
  CLASSIC_128("classic128", "CLASSIC, every 128", SubmitPolicy.CLASSIC.doorbellEvery(128)),
  TURN("turn", "TURN, CAS", SubmitPolicy.TURN),
  TURN_LOAD_STORE(
      "turn-ldst", "TURN, load/store", SubmitPolicy.TURN.handOver(HandOver.TURN_LOAD_STORE)),
  BITMAP("bitmap", "BITMAP", SubmitPolicy.BITMAP),
  EXCLUSIVE("exclusive", "EXCLUSIVE", SubmitPolicy.EXCLUSIVE);

  private final String option;
  private final String title;
  private final SubmitPolicy policy;

  DemoPolicy(String option, String title, SubmitPolicy policy) {
    this.option = option;
    this.title = title;
    this.policy = policy;
  }

  String option() {
    return option;
  }

  String title() {
    return title;
  }

  SubmitPolicy policy() {
    return policy;
  }

  static String options() {
    return Arrays.stream(values()).map(DemoPolicy::option).collect(Collectors.joining(","));
  }

  /** Such as {@code classic,turn}, or {@code all}. */
  static List<DemoPolicy> parse(String text) throws UsageException {
    if (text.equals("all")) {
      return List.of(values());
    }
    List<DemoPolicy> chosen = new ArrayList<>();
    for (String word : text.split(",", -1)) {
      DemoPolicy policy =
          Arrays.stream(values())
              .filter(each -> each.option.equals(word.strip().toLowerCase(Locale.ROOT)))
              .findFirst()
              .orElseThrow(
                  () ->
                      new UsageException(
                          "--policies %s: use all, or some of %s".formatted(text, options())));
      if (!chosen.contains(policy)) {
        chosen.add(policy);
      }
    }
    return chosen;
  }
}
