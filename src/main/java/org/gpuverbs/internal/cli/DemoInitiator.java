// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import org.gpuverbs.Gpu;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RdmaException;
import org.gpuverbs.SubmitPolicy;
import org.jspecify.annotations.Nullable;

/** Who submits in the demo: the GPU where there is one, else CPU lane threads, saying why. */
final class DemoInitiator implements AutoCloseable {
  private final @Nullable Gpu gpu;
  private final String name;

  private DemoInitiator(@Nullable Gpu gpu, String name) {
    this.gpu = gpu;
    this.name = name;
  }

  static DemoInitiator choose(boolean cpu) {
    if (cpu) {
      return new DemoInitiator(null, "CPU lane threads, as asked");
    }
    RdmaException missing = Gpu.unavailabilityCause();
    if (missing != null) {
      return lanes(missing);
    }
    Gpu gpu = null;
    try (Nic nic = Nic.open()) {
      gpu = Gpu.open(0);
      // What is missing for its kernels shows here.
      nic.queuePair(QueuePairOptions.builder().gpu(gpu).build()).close();
      return new DemoInitiator(gpu, "kernels of " + gpu);
    } catch (RdmaException e) {
      if (gpu != null) {
        gpu.close();
      }
      return lanes(e);
    }
  }

  private static DemoInitiator lanes(RdmaException why) {
    // The first words say what is missing; info says the rest.
    String reason = why.hint().split("[(:]")[0].strip();
    return new DemoInitiator(null, "CPU lane threads, because there is no GPU to use: " + reason);
  }

  boolean gpu() {
    return gpu != null;
  }

  /** Those of queue pairs that it submits to. */
  QueuePairOptions.Builder options() {
    QueuePairOptions.Builder options = QueuePairOptions.builder();
    return gpu == null ? options : options.gpu(gpu);
  }

  Rig rig(Nic nic, FarEnd far, SubmitPolicy policy, int lanes, int queuePairs) {
    return gpu == null
        ? new Rig(nic, far, policy, lanes, queuePairs)
        : new Rig(nic, far, gpu, policy, queuePairs);
  }

  @Override
  public void close() {
    if (gpu != null) {
      gpu.close();
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
