// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.gpuverbs.Finding;
import org.gpuverbs.internal.discovery.KernelFiles;
import org.jspecify.annotations.Nullable;

/** A machine's files as the kernel shows them, put together by tests. */
final class Tree {
  static final String NIC = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0";
  static final String SWITCH = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";
  static final String GPU = SWITCH + "/0000:03:00.0";
  private static final String DEVICES = "sys/class/infiniband/";

  private final Path root;
  private @Nullable DirectAnswer direct;
  private final Set<String> libraries = new HashSet<>(Set.of("libibverbs.so.1"));

  Tree(Path root) {
    this.root = root;
  }

  Tree put(String file, String text) {
    return put(file, (text + "\n").getBytes(java.nio.charset.StandardCharsets.UTF_8));
  }

  Tree put(String file, byte[] bytes) {
    try {
      Path path = root.resolve(file);
      Files.createDirectories(path.getParent());
      Files.write(path, bytes);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Tree link(String link, String target) {
    try {
      Path path = root.resolve(link);
      Files.createDirectories(path.getParent());
      Files.createDirectories(root.resolve(target));
      Files.createSymbolicLink(path, root.resolve(target));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Tree remove(String file) {
    try {
      Files.delete(root.resolve(file));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Tree library(String name) {
    libraries.add(name);
    return this;
  }

  Tree withoutLibraries() {
    libraries.clear();
    return this;
  }

  /** What the ConnectX says of path DIRECT. */
  Tree says(DirectAnswer answer) {
    direct = answer;
    return this;
  }

  /** soft-RoCE over an interface, as Linux 6.1 shows it. */
  Tree softRoce(int mtu) {
    put(DEVICES + "rxe0/node_type", "1: CA");
    put(DEVICES + "rxe0/parent", "eth0");
    port("rxe0", "4: ACTIVE", "Ethernet");
    gid("rxe0", 0, "fe80:0000:0000:0000:0202:03ff:fe04:0506", "RoCE v2");
    gid("rxe0", 1, "0000:0000:0000:0000:0000:ffff:0a4d:0001", "RoCE v2");
    gid("rxe0", 2, "0000:0000:0000:0000:0000:0000:0000:0000", "RoCE v2");
    put("sys/class/net/eth0/mtu", Integer.toString(mtu));
    put("dev/infiniband/uverbs0", "");
    return put(
        "proc/self/limits", "Max locked memory         unlimited            unlimited    bytes");
  }

  /** A ConnectX and a GPU behind one switch, with everything that DIRECT needs. */
  Tree connectX() {
    softRoce(9000);
    link(NIC + "/driver", "sys/bus/pci/drivers/mlx5_core");
    put(NIC + "/numa_node", "0");
    link(DEVICES + "mlx5_0/device", NIC);
    put(DEVICES + "mlx5_0/node_type", "1: CA");
    put(DEVICES + "mlx5_0/hca_type", "MT4129");
    put(DEVICES + "mlx5_0/fw_ver", "28.39.1002");
    port("mlx5_0", "4: ACTIVE", "Ethernet");
    gid("mlx5_0", 0, "fe80:0000:0000:0000:0202:03ff:fe04:0507", "IB/RoCE v1");
    gid("mlx5_0", 3, "0000:0000:0000:0000:0000:ffff:0a4d:0002", "RoCE v2");
    library("libmlx5.so.1").library("libcuda.so.1");
    put(GPU + "/vendor", "0x10de");
    put(GPU + "/class", "0x030200");
    put(GPU + "/numa_node", "0");
    link("sys/bus/pci/devices/0000:03:00.0", GPU);
    put("proc/driver/nvidia/version", openModules(570));
    return put("proc/driver/nvidia/params", "RegistryDwords: \"PeerMappingOverride=1;\"");
  }

  static String openModules(int branch) {
    return "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
        + branch
        + ".86.15  Release Build";
  }

  static String proprietaryModules(int branch) {
    return "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + branch + ".86.15  Fri";
  }

  Tree port(String device, String state, String link) {
    put(DEVICES + device + "/ports/1/state", state);
    put(DEVICES + device + "/ports/1/phys_state", "5: LinkUp");
    put(DEVICES + device + "/ports/1/lid", "0x0");
    return put(DEVICES + device + "/ports/1/link_layer", link);
  }

  Tree gid(String device, int index, String gid, String type) {
    put(DEVICES + device + "/ports/1/gids/" + index, gid);
    put(DEVICES + device + "/ports/1/gid_attrs/types/" + index, type);
    return put(DEVICES + device + "/ports/1/gid_attrs/ndevs/" + index, "eth0");
  }

  /** A configuration space whose second extended capability is ACS with that control word. */
  static byte[] config(int control) {
    ByteBuffer bytes = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(0x100, 0x0001 | 1 << 16 | 0x140 << 20);
    bytes.putInt(0x140, 0x000d | 1 << 16);
    bytes.putShort(0x146, (short) control);
    return bytes.array();
  }

  List<Finding> findings() {
    return new Examination(
            new KernelFiles(root), libraries::contains, null, device -> Optional.ofNullable(direct))
        .findings();
  }

  Finding finding(String topic, String subject) {
    return find(topic, subject)
        .orElseThrow(() -> new AssertionError("no " + topic + " in " + findings()));
  }

  Optional<Finding> find(String topic, String subject) {
    return findings().stream()
        .filter(each -> each.topic().equals(topic) && each.subject().equals(subject))
        .findFirst();
  }
}
