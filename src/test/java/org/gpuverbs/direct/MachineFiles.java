// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.gpuverbs.internal.discovery.KernelFiles;

/** The stand-in's machine as its kernel shows it, under {@link KernelFiles#ROOT_PROPERTY}. */
final class MachineFiles {
  private static final String BRIDGE = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";

  private final Path root;
  private final Map<String, Long> switches =
      new HashMap<>(
          Map.of(
              "devices",
              1L,
              "port.state",
              4L,
              "port.ethernet",
              1L,
              "port.lid",
              7L,
              "gids",
              4L,
              "uverbs",
              0L));

  MachineFiles(StandIn of) {
    String property = System.getProperty(KernelFiles.ROOT_PROPERTY);
    if (property == null) {
      throw new IllegalStateException(
          of + " needs -D" + KernelFiles.ROOT_PROPERTY + ", which the POM's execution mlx5 sets");
    }
    root = Path.of(property);
  }

  Path root() {
    return root;
  }

  void follow(String name, long value) {
    if (switches.containsKey(name)) {
      switches.put(name, value);
      write();
    }
  }

  private boolean ethernet() {
    return switches.get("port.ethernet") != 0;
  }

  /** Afresh. */
  void write() {
    clear();
    put("proc/self/limits", "Max locked memory         unlimited            unlimited    bytes");
    put("sys/class/net/eth0/mtu", "9000");
    boolean kernel = switches.get("uverbs") != 1;
    for (int d = 0; kernel && d < switches.get("devices"); d++) {
      device(d);
    }
  }

  private void device(int d) {
    String pci = BRIDGE + "/0000:0" + (2 + d) + ":00.0";
    String at = "sys/class/infiniband/mlx5_" + d + "/";
    String port = at + "ports/1/";
    long state = switches.get("port.state");
    if (switches.get("uverbs") != 2) {
      put("dev/infiniband/uverbs" + d, "");
    }
    link(pci + "/driver", "sys/bus/pci/drivers/mlx5_core");
    put(pci + "/numa_node", "0");
    link(at + "device", pci);
    put(at + "node_type", "1: CA");
    put(at + "hca_type", "MT4123");
    put(at + "fw_ver", "20.35.1012");
    put(port + "state", state + ": " + (state == 4 ? "ACTIVE" : state == 2 ? "INIT" : "DOWN"));
    put(port + "phys_state", state == 1 ? "3: Disabled" : "5: LinkUp");
    put(port + "link_layer", ethernet() ? "Ethernet" : "InfiniBand");
    long lid = switches.get("port.lid");
    put(port + "lid", "0x" + Long.toHexString(ethernet() || lid == 0 ? 0 : lid + d));
    for (int i = 0; i < 4; i++) {
      boolean used = i < switches.get("gids") && (ethernet() || i == 0);
      put(port + "gids/" + i, used ? gid(d, i) : "0000:0000:0000:0000:0000:0000:0000:0000");
      if (used && ethernet()) {
        put(port + "gid_attrs/types/" + i, i % 2 == 0 ? "IB/RoCE v1" : "RoCE v2");
        put(port + "gid_attrs/ndevs/" + i, "eth0");
      }
    }
  }

  /** As device.cpp has them. */
  private String gid(int d, int index) {
    if (!ethernet()) {
      return "fe80:0000:0000:0000:0c42:a103:00a0:000" + (d + 1);
    }
    return index < 2
        ? "fe80:0000:0000:0000:0e42:a1ff:fe00:00a" + d
        : "0000:0000:0000:0000:0000:ffff:0a4d:000" + (d + 1);
  }

  MachineFiles put(String file, String text) {
    try {
      Path path = root.resolve(file);
      Files.createDirectories(path.getParent());
      Files.writeString(path, text + "\n");
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void link(String link, String target) {
    try {
      Files.createDirectories(root.resolve(link).getParent());
      Files.createDirectories(root.resolve(target));
      Files.createSymbolicLink(root.resolve(link), root.resolve(target));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void clear() {
    if (!Files.exists(root)) {
      return;
    }
    try (Stream<Path> all = Files.walk(root)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
