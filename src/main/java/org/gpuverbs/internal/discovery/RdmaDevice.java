// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.discovery;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An RDMA device that the kernel knows.
 *
 * @param name such as {@code mlx5_0}
 * @param driver the kernel driver, such as {@code mlx5_core}; {@code software} for devices above a
 *     network interface, such as soft-RoCE
 * @param nodeType such as {@code CA}, {@code RNIC} (iWARP)
 * @param firmware its version; empty if it has none
 * @param model such as {@code MT4129}; empty if unknown
 * @param pci its directory below the root, in /sys/devices; absent for software devices
 * @param ports one or more
 */
public record RdmaDevice(
    String name,
    String driver,
    String nodeType,
    String firmware,
    String model,
    Optional<String> pci,
    List<RdmaPort> ports) {
  private static final String DEVICES = "sys/class/infiniband";

  /** Sorted by name; empty without RDMA in the kernel. */
  public static List<RdmaDevice> list(KernelFiles files) {
    return files.list(DEVICES).stream().map(name -> read(files, name)).toList();
  }

  private static RdmaDevice read(KernelFiles files, String name) {
    String at = DEVICES + "/" + name;
    Optional<String> driver =
        files.target(at + "/device/driver").map(path -> path.substring(path.lastIndexOf('/') + 1));
    List<RdmaPort> ports = new ArrayList<>();
    for (String port : files.list(at + "/ports")) {
      if (port.matches("\\d{1,3}")) {
        ports.add(RdmaPort.read(files, at, Integer.parseInt(port)));
      }
    }
    String type = files.read(at + "/node_type").orElse("unknown");
    return new RdmaDevice(
        name,
        driver.orElse("software"),
        type.substring(type.indexOf(':') + 1).strip(),
        files.read(at + "/fw_ver").orElse(""),
        files.read(at + "/hca_type").orElse(""),
        driver.flatMap(any -> files.target(at + "/device")),
        List.copyOf(ports));
  }

  public boolean mlx5() {
    return driver.startsWith("mlx5");
  }

  /** Whether it talks InfiniBand or RoCE, which have what the proxy's queue pairs need. */
  public boolean channelAdapter() {
    return nodeType.equals("CA");
  }

  /** Its first active port. */
  public Optional<RdmaPort> activePort() {
    return ports.stream().filter(RdmaPort::active).findFirst();
  }
}
