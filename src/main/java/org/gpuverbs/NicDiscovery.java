// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gpuverbs.internal.discovery.KernelFiles;
import org.gpuverbs.internal.discovery.RdmaDevice;
import org.gpuverbs.internal.discovery.RdmaDevices;
import org.jspecify.annotations.Nullable;

/** What {@link Nic#list()} finds. */
final class NicDiscovery {
  static final String SOFT_NAME = "soft0";

  private NicDiscovery() {}

  static List<NicInfo> list() {
    List<NicInfo> found = new ArrayList<>();
    List<RdmaDevice> devices = RdmaDevice.list(KernelFiles.here());
    Availability other = noDevice(devices);
    found.add(
        new NicInfo(SOFT_NAME, Map.of(Path.SOFT, soft(), Path.DIRECT, other, Path.PROXY, other)));
    for (RdmaDevice device : devices) {
      found.add(
          new NicInfo(
              device.name(),
              Map.of(
                  Path.SOFT,
                  Availability.no(
                      device.name() + " is no software NIC of this library", "open " + SOFT_NAME),
                  Path.DIRECT,
                  direct(device),
                  Path.PROXY,
                  proxy(device))));
    }
    return List.copyOf(found);
  }

  private static Availability soft() {
    @Nullable RdmaException cause = GpuVerbs.unavailabilityCause();
    return cause == null
        ? Availability.yes()
        : Availability.no(String.valueOf(cause.getMessage()), cause.hint());
  }

  private static Availability noDevice(List<RdmaDevice> devices) {
    if (devices.isEmpty()) {
      return Availability.no(
          "no RDMA device in /sys/class/infiniband",
          "load the NIC's kernel driver, or rdma_rxe for soft-RoCE; until then use SOFT");
    }
    return Availability.no(SOFT_NAME + " is the software NIC", "open " + devices.getFirst().name());
  }

  private static Availability direct(RdmaDevice device) {
    if (!device.mlx5()) {
      return Availability.no(
          device.name() + " is no ConnectX: its driver is " + device.driver(),
          "DIRECT needs a ConnectX-4 or newer");
    }
    return Availability.no("this version has no DIRECT backend", "use PROXY or SOFT");
  }

  private static Availability proxy(RdmaDevice device) {
    if (!RdmaDevices.canLoad("libibverbs.so.1")) {
      return Availability.no(
          "libibverbs.so.1 can't be opened", "install libibverbs1 and ibverbs-providers");
    }
    return Availability.no("this version has no PROXY backend", "use SOFT");
  }
}
