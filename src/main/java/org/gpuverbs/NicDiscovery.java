// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.gpuverbs.internal.backend.VerbsDevice;
import org.gpuverbs.internal.discovery.KernelFiles;
import org.gpuverbs.internal.discovery.RdmaDevice;
import org.gpuverbs.internal.discovery.RdmaDevices;
import org.gpuverbs.internal.discovery.RdmaPort;
import org.jspecify.annotations.Nullable;

/** What {@link Nic#list()} finds. */
final class NicDiscovery {
  static final String SOFT_NAME = "soft0";
  private static final String SEE_DOCTOR = "the command doctor says more";

  private NicDiscovery() {}

  static List<NicInfo> list() {
    List<NicInfo> found = new ArrayList<>();
    List<RdmaDevice> devices = RdmaDevice.list(KernelFiles.here());
    found.add(software(devices));
    for (RdmaDevice device : devices) {
      found.add(info(device));
    }
    return List.copyOf(found);
  }

  /** The software NIC alone: opens no device to find out what that can do. */
  static NicInfo software() {
    return software(RdmaDevice.list(KernelFiles.here()));
  }

  private static NicInfo software(List<RdmaDevice> devices) {
    Availability other = noDevice(devices);
    return new NicInfo(SOFT_NAME, Map.of(Path.SOFT, soft(), Path.DIRECT, other, Path.PROXY, other));
  }

  private static NicInfo info(RdmaDevice device) {
    Map<Path, Availability> paths = new EnumMap<>(Path.class);
    paths.put(
        Path.SOFT,
        Availability.no(
            device.name() + " is no software NIC of this library", "open " + SOFT_NAME));
    Availability port = port(device);
    if (port.available()) {
      probe(device, device.activePort().orElseThrow(), paths);
    } else {
      paths.put(Path.PROXY, port);
      paths.put(Path.DIRECT, device.mlx5() ? port : noConnectX(device));
    }
    return new NicInfo(device.name(), paths);
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

  private static Availability noConnectX(RdmaDevice device) {
    return Availability.no(
        device.name() + " is no ConnectX: its driver is " + device.driver(),
        "DIRECT needs a ConnectX-4 or newer");
  }

  /** Whether there is a port that peers can be reached by. */
  private static Availability port(RdmaDevice device) {
    if (!RdmaDevices.canLoad("libibverbs.so.1")) {
      return Availability.no(
          "libibverbs.so.1 can't be opened", "install libibverbs1 and ibverbs-providers");
    }
    if (!device.channelAdapter()) {
      return Availability.no(
          device.name()
              + " is "
              + device.nodeType()
              + ": no reliable connections with InfiniBand or RoCE addressing",
          "use a RoCE or InfiniBand NIC");
    }
    RdmaPort port = device.activePort().orElse(null);
    if (port == null) {
      return Availability.no("no port of " + device.name() + " is active", SEE_DOCTOR);
    }
    if (port.ethernet() ? port.gid().isEmpty() : port.lid() == 0) {
      return Availability.no(
          "port %d of %s has no %s"
              .formatted(port.number(), device.name(), port.ethernet() ? "RoCE v2 GID" : "LID"),
          SEE_DOCTOR);
    }
    @Nullable RdmaException cause = GpuVerbs.unavailabilityCause();
    return cause == null
        ? Availability.yes()
        : Availability.no(String.valueOf(cause.getMessage()), cause.hint());
  }

  /** Opens the device and tries what each path needs. */
  private static void probe(RdmaDevice device, RdmaPort port, Map<Path, Availability> paths) {
    try (VerbsDevice opened = VerbsDevice.open(device.name(), PortOptions.defaults(), port)) {
      paths.put(
          Path.PROXY,
          opened.info().atomics()
              ? Availability.yes()
              : Availability.no(device.name() + " has no atomics", "use another NIC"));
      paths.put(Path.DIRECT, device.mlx5() ? direct(opened) : noConnectX(device));
    } catch (RdmaException e) {
      paths.put(Path.PROXY, refused(e));
      paths.put(Path.DIRECT, device.mlx5() ? refused(e) : noConnectX(device));
    } catch (IllegalStateException e) {
      paths.put(Path.PROXY, Availability.no(String.valueOf(e.getMessage()), SEE_DOCTOR));
      paths.put(Path.DIRECT, Availability.no(String.valueOf(e.getMessage()), SEE_DOCTOR));
    }
  }

  private static Availability direct(VerbsDevice opened) {
    try {
      opened.direct();
      return Availability.yes();
    } catch (RdmaException e) {
      return refused(e);
    }
  }

  /** The native library's texts end with what to do, behind the last colon. */
  private static Availability refused(RdmaException e) {
    int colon = e.hint().lastIndexOf(": ");
    return colon < 0
        ? Availability.no(String.valueOf(e.getMessage()), SEE_DOCTOR)
        : Availability.no(
            e.hint().substring(0, colon) + (e.errno() == 0 ? "" : " (errno " + e.errno() + ")"),
            e.hint().substring(colon + 2));
  }

  /**
   * Opens a device for its hardware paths.
   *
   * @throws RdmaException if it is gone, the port is none of its own or is not active
   */
  static VerbsDevice openDevice(String name, PortOptions options) {
    RdmaDevice device =
        RdmaDevice.list(KernelFiles.here()).stream()
            .filter(each -> each.name().equals(name))
            .findFirst()
            .orElseThrow(() -> failed(name + " is gone"));
    RdmaPort port =
        device.ports().stream()
            .filter(each -> options.port() == 0 ? each.active() : each.number() == options.port())
            .findFirst()
            .orElseThrow(() -> failed(name + " has no active port " + options.port()));
    if (!port.active()) {
      throw failed("port " + port.number() + " of " + name + " is " + port.state());
    }
    return VerbsDevice.open(name, options, port);
  }

  private static RdmaException failed(String what) {
    return new RdmaException(what, 0, 0, 0, SEE_DOCTOR, null);
  }
}
