// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.discovery;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A port of an RDMA device, as /sys/class/infiniband shows it.
 *
 * @param number 1 or more
 * @param state such as {@code ACTIVE}, {@code DOWN}, {@code INIT}
 * @param physicalState such as {@code LinkUp}, {@code Disabled}, {@code Polling}
 * @param linkLayer {@code Ethernet} or {@code InfiniBand}
 * @param lid 0 where none is assigned
 * @param gids the table's used entries
 * @param netdevMtu bytes that the chosen GID's network interface carries; 0 if there is none
 */
public record RdmaPort(
    int number,
    String state,
    String physicalState,
    String linkLayer,
    int lid,
    List<Gid> gids,
    int netdevMtu) {
  /** Headers that a RoCE packet may have: iboe_get_mtu of linux/include/rdma/ib_addr.h. */
  private static final int ROCE_HEADERS = 40 + 8 + 12 + 4 + 28 + 4;

  static RdmaPort read(KernelFiles files, String device, int number) {
    String at = device + "/ports/" + number + "/";
    List<Gid> gids = new ArrayList<>();
    for (String name : files.list(at + "gids")) {
      int index = number(name, 10);
      Gid gid =
          Gid.of(
              index,
              files.read(at + "gids/" + name).orElse(""),
              files.read(at + "gid_attrs/types/" + name).orElse(""),
              files.read(at + "gid_attrs/ndevs/" + name).orElse(""));
      if (!gid.empty()) {
        gids.add(gid);
      }
    }
    gids.sort(Comparator.comparingInt(Gid::index));
    String link = files.read(at + "link_layer").orElse("unknown");
    int mtu =
        choose(gids, link)
            .flatMap(gid -> files.read("sys/class/net/" + gid.netdev() + "/mtu"))
            .map(text -> number(text, 10))
            .orElse(0);
    return new RdmaPort(
        number,
        afterColon(files.read(at + "state").orElse("unknown")),
        afterColon(files.read(at + "phys_state").orElse("unknown")),
        link,
        files.read(at + "lid").map(text -> number(text.replace("0x", ""), 16)).orElse(0),
        List.copyOf(gids),
        mtu);
  }

  public boolean active() {
    return state.equals("ACTIVE");
  }

  public boolean ethernet() {
    return linkLayer.equals("Ethernet");
  }

  /**
   * The GID to address peers with: on Ethernet RoCE v2, which is routed, and of these IPv4, then
   * global IPv6, then link-local. On InfiniBand the first.
   */
  public Optional<Gid> gid() {
    return choose(gids, linkLayer);
  }

  private static Optional<Gid> choose(List<Gid> gids, String link) {
    if (!link.equals("Ethernet")) {
      return gids.stream().findFirst();
    }
    return gids.stream()
        .filter(Gid::routable)
        .min(
            Comparator.comparingInt((Gid gid) -> gid.ipv4() ? 0 : gid.linkLocal() ? 2 : 1)
                .thenComparingInt(Gid::index));
  }

  /** The RDMA MTU that the network interface's allows; 0 if unknown. */
  public int roceMtu() {
    int room = netdevMtu - ROCE_HEADERS;
    return room < 256 ? 0 : Math.min(4096, Integer.highestOneBit(room));
  }

  /** Interface MTU that 4096 bytes a packet need. */
  public static int jumbo() {
    return 4096 + ROCE_HEADERS;
  }

  private static String afterColon(String text) {
    return text.substring(text.indexOf(':') + 1).strip();
  }

  private static int number(String text, int radix) {
    try {
      return Integer.parseInt(text, radix);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
