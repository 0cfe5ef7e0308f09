// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.Finding;
import org.gpuverbs.Finding.Verdict;

/** Collects findings. */
final class Findings {
  private final List<Finding> all = new ArrayList<>();

  List<Finding> all() {
    return List.copyOf(all);
  }

  void found(String topic, String subject, String what) {
    all.add(new Finding(topic, subject, Verdict.FOUND, what, ""));
  }

  void note(String topic, String subject, String what, String fix) {
    all.add(new Finding(topic, subject, Verdict.NOTE, what, fix));
  }

  void missing(String topic, String subject, String what, String fix) {
    all.add(new Finding(topic, subject, Verdict.MISSING, what, fix));
  }
}
