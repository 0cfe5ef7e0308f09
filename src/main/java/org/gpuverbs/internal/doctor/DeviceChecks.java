// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.util.Optional;
import org.gpuverbs.internal.discovery.Gid;
import org.gpuverbs.internal.discovery.RdmaDevice;
import org.gpuverbs.internal.discovery.RdmaPort;

/** One RDMA device: its kind, and of each port state, link layer, GID and MTU. */
record DeviceChecks(RdmaDevice device, Findings out) {
  void run() {
    kind();
    for (RdmaPort port : device.ports()) {
      port(port);
    }
  }

  private void kind() {
    String what =
        "%s, driver %s%s%s"
            .formatted(
                device.nodeType(),
                device.driver(),
                device.model().isEmpty() ? "" : ", " + device.model(),
                device.firmware().isEmpty() ? "" : ", firmware " + device.firmware());
    if (!device.channelAdapter()) {
      out.missing(
          "device",
          device.name(),
          what + ": no reliable connections with InfiniBand or RoCE addressing",
          device.nodeType().equals("RNIC")
              ? "iWARP connects by rdma_cm only; use a RoCE or InfiniBand NIC"
              : "use a RoCE or InfiniBand NIC");
    } else if (!device.mlx5()) {
      out.note(
          "device",
          device.name(),
          what + ": no ConnectX, so PROXY and not DIRECT",
          "DIRECT needs a ConnectX-4 or newer");
    } else {
      out.found("device", device.name(), what);
    }
  }

  private void port(RdmaPort port) {
    String who = device.name() + " port " + port.number();
    if (!port.active()) {
      out.missing(
          "port",
          who,
          "%s, link %s".formatted(port.state(), port.physicalState()),
          fixOfState(port));
      return;
    }
    out.found("port", who, "ACTIVE, link layer " + port.linkLayer());
    if (port.ethernet()) {
      roce(port, who);
    } else {
      infiniband(port, who);
    }
  }

  private static String fixOfState(RdmaPort port) {
    if (port.ethernet()) {
      return "ip link set the port's interface up, and check the cable and the switch's port";
    }
    return port.state().equals("INIT")
        ? "no subnet manager has configured the port: start opensm on the fabric"
        : "check the cable and the switch's port";
  }

  private void roce(RdmaPort port, String who) {
    Optional<Gid> gid = port.gid();
    if (gid.isEmpty()) {
      out.missing(
          "GID",
          who,
          port.gids().isEmpty() ? "the GID table is empty" : "RoCE v1 only, which is not routed",
          port.gids().isEmpty()
              ? "give the port's interface an IP address"
              : "cma_roce_mode -d %s -p %d -m 2".formatted(device.name(), port.number()));
      return;
    }
    Gid chosen = gid.get();
    String text = "index %d, %s, %s".formatted(chosen.index(), chosen.type(), chosen.address());
    if (chosen.linkLocal()) {
      out.note(
          "GID",
          who,
          text + ": reaches this network segment only",
          "give interface " + chosen.netdev() + " an IP address");
    } else {
      out.found("GID", who, text);
    }
    int mtu = port.roceMtu();
    if (mtu == 0) {
      out.note("MTU", who, "unknown: the GID has no network interface", "");
    } else if (mtu < 4096) {
      out.note(
          "MTU",
          who,
          "%d bytes a packet, as %s carries %d".formatted(mtu, chosen.netdev(), port.netdevMtu()),
          "ip link set %s mtu %d or more at both ends and on the switches gives 4096"
              .formatted(chosen.netdev(), RdmaPort.jumbo()));
    } else {
      out.found("MTU", who, mtu + " bytes a packet");
    }
  }

  private void infiniband(RdmaPort port, String who) {
    if (port.lid() == 0) {
      out.missing("LID", who, "none assigned", "start a subnet manager (opensm) on the fabric");
    } else {
      out.found("LID", who, Integer.toString(port.lid()));
    }
  }
}
