// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gpuverbs.internal.discovery.RdmaDevices;
import org.jspecify.annotations.Nullable;

/** What {@link Nic#list()} finds. */
final class NicDiscovery {
  private static final String SOFT_NAME = "soft0";

  private NicDiscovery() {}

  static List<NicInfo> list() {
    List<NicInfo> found = new ArrayList<>();
    List<String> devices = RdmaDevices.names();
    Availability hardware = hardware(devices);
    found.add(
        new NicInfo(
            SOFT_NAME, Map.of(Path.SOFT, soft(), Path.DIRECT, hardware, Path.PROXY, hardware)));
    for (String device : devices) {
      found.add(
          new NicInfo(
              device,
              Map.of(
                  Path.SOFT,
                  Availability.no(device + " is hardware", "open " + SOFT_NAME),
                  Path.DIRECT,
                  hardware,
                  Path.PROXY,
                  hardware)));
    }
    return List.copyOf(found);
  }

  private static Availability soft() {
    @Nullable RdmaException cause = GpuVerbs.unavailabilityCause();
    return cause == null
        ? Availability.yes()
        : Availability.no(String.valueOf(cause.getMessage()), cause.hint());
  }

  private static Availability hardware(List<String> devices) {
    String version = "this version has no backend for RDMA devices";
    if (devices.isEmpty()) {
      return Availability.no(
          "no RDMA device in /sys/class/infiniband, and " + version,
          "load the NIC's kernel driver, or rdma_rxe for soft-RoCE; until a version with the"
              + " backend is out, use SOFT");
    }
    if (!RdmaDevices.verbsLibrary()) {
      return Availability.no(
          "libibverbs.so.1 can't be opened, and " + version,
          "install libibverbs1 and ibverbs-providers; until a version with the backend is out, use"
              + " SOFT");
    }
    return Availability.no(version, "use SOFT");
  }
}
