// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.util.Optional;
import java.util.function.Function;
import org.gpuverbs.PathDetails.Doorbell;
import org.gpuverbs.PortOptions;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.backend.VerbsDevice;
import org.gpuverbs.internal.discovery.RdmaDevice;
import org.gpuverbs.internal.discovery.RdmaPort;
import org.gpuverbs.internal.shim.DirectCalls;

/**
 * What path DIRECT needs of a ConnectX and its driver stack, found out by trying: DEVX, doorbell
 * registers, dma-buf, atomics.
 *
 * @param ask gives an answer for each device that can be asked
 */
record DirectChecks(Function<RdmaDevice, Optional<DirectAnswer>> ask, Findings out) {
  /** Opens the device for a moment. Its port may be down. */
  static Optional<DirectAnswer> ask(RdmaDevice device) {
    if (device.ports().isEmpty()) {
      return Optional.empty();
    }
    RdmaPort port = device.activePort().orElse(device.ports().getFirst());
    try (VerbsDevice opened = VerbsDevice.open(device.name(), PortOptions.defaults(), port)) {
      return Optional.of(
          DirectAnswer.of(new DirectAnswer.Offer(opened.direct(), opened.bestDoorbell())));
    } catch (RdmaException e) {
      return Optional.of(DirectAnswer.of(e));
    } catch (IllegalStateException e) {
      return Optional.of(
          DirectAnswer.of(
              new RdmaException("the device can't be closed", 0, 0, 0, e.toString(), e)));
    }
  }

  void run(RdmaDevice device) {
    if (!device.mlx5()) {
      return;
    }
    DirectAnswer answer = ask.apply(device).orElse(null);
    if (answer == null) {
      return;
    }
    answer.refusal().ifPresent(why -> refused(device.name(), why));
    answer.offer().ifPresent(offer -> offered(device.name(), offer));
  }

  private void refused(String who, RdmaException why) {
    String text = why.hint();
    int colon = text.lastIndexOf(": ");
    out.missing(
        "DIRECT",
        who,
        (colon < 0 ? text : text.substring(0, colon))
            + (why.errno() == 0 ? "" : " (errno " + why.errno() + ")"),
        colon < 0 ? "use path PROXY" : text.substring(colon + 2));
  }

  private void offered(String who, DirectAnswer.Offer offer) {
    DirectCalls.Info info = offer.info();
    out.found(
        "DIRECT",
        who,
        "DEVX works: queues of %d basic blocks, %d bytes inline, CQs of %d"
            .formatted(info.maxDepth(), info.maxInlineBytes(), info.maxCqes()));
    doorbell(who, offer.doorbell());
    atomics(who, info.atomics());
    if (info.dmaBuf()) {
      out.found("dma-buf", who, "libibverbs and libmlx5 register it");
    } else {
      out.note(
          "dma-buf",
          who,
          "not in these libibverbs and libmlx5: memory of a GPU needs nvidia-peermem",
          "update libibverbs1 and ibverbs-providers (rdma-core)");
    }
  }

  private void doorbell(String who, Doorbell best) {
    switch (best) {
      case DEDICATED -> out.found("UAR", who, "non-cached registers, one a queue pair");
      case NON_CACHED ->
          out.note(
              "UAR",
              who,
              "non-cached registers, but no dedicated pages: queue pairs may share a page",
              "a newer kernel and rdma-core give dedicated pages");
      default ->
          out.note(
              "UAR",
              who,
              "BlueFlame alone, which is write-combining: each doorbell costs a barrier more, and"
                  + " GPUs may not have it",
              "a newer kernel, rdma-core and firmware give non-cached registers; in a VM ask its"
                  + " host");
    }
  }

  private void atomics(String who, int order) {
    if (order == DirectCalls.Info.HOST_ORDER) {
      out.found("atomics", who, "8 bytes, in the host's byte order");
    } else {
      out.note(
          "atomics",
          who,
          order == DirectCalls.Info.NETWORK_ORDER
              ? "8 bytes in network byte order only, which this library refuses to use"
              : "none: COMPARE-SWAP and FETCH-ADD are refused",
          "mlxconfig and a newer firmware may enable them; WRITE, READ and SEND work without");
    }
  }
}
