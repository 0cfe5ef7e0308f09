// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

/** The GPU as initiator: not in this command yet. */
final class GpuInitiator {
  static final String REFUSAL =
      "--initiator gpu: this version has no GPU initiator; the native harness in bench/gpu measures"
          + " GPU submit rates";

  private GpuInitiator() {}
}
