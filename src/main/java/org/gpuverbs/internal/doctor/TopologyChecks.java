// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.internal.discovery.KernelFiles;
import org.gpuverbs.internal.discovery.RdmaDevice;

/** How far a NIC is from each GPU, and what stands between them. */
record TopologyChecks(KernelFiles files, Findings out) {
  // PCI Express Base Specification: extended capability 0x000d, control register at +6.
  private static final int EXTENDED = 0x100;
  private static final int ACS = 0x000d;
  private static final int ACS_CONTROL = 6;

  /** Request redirect and completion redirect: peer-to-peer packets go up to the root complex. */
  private static final int REDIRECTS = 1 << 2 | 1 << 3;

  void run(RdmaDevice device, List<PciDevice> gpus) {
    if (device.pci().isEmpty()) {
      return;
    }
    PciDevice nic = PciDevice.at(files, device.pci().get());
    List<String> redirecting = new ArrayList<>();
    for (PciDevice gpu : gpus) {
      distance(device.name() + " - GPU " + gpu.address(), nic, gpu);
      for (String bridge : nic.bridges()) {
        if (gpu.bridges().contains(bridge) && !redirecting.contains(bridge) && redirects(bridge)) {
          redirecting.add(bridge);
        }
      }
      for (String bridge : between(nic, gpu)) {
        if (!redirecting.contains(bridge) && redirects(bridge)) {
          redirecting.add(bridge);
        }
      }
    }
    if (!gpus.isEmpty()) {
      acs(device.name(), redirecting);
    }
  }

  private void distance(String who, PciDevice nic, PciDevice gpu) {
    if (!nic.root().isEmpty() && nic.root().equals(gpu.root())) {
      boolean shared = nic.bridges().stream().anyMatch(gpu.bridges()::contains);
      if (shared) {
        out.found("distance", who, "behind the same PCI switch or port");
      } else {
        out.found("distance", who, "same root complex, through the CPU's host bridge");
      }
    } else if (nic.numaNode() >= 0 && nic.numaNode() == gpu.numaNode()) {
      out.note("distance", who, "same NUMA node " + nic.numaNode() + ", other root complex", "");
    } else {
      out.note(
          "distance",
          who,
          "across CPU sockets: slow, and refused on some platforms",
          "take a NIC beside the GPU (nvidia-smi topo -m)");
    }
  }

  /** The bridges below the last one that both have, on either side. */
  private static List<String> between(PciDevice nic, PciDevice gpu) {
    List<String> all = new ArrayList<>(nic.bridges());
    all.removeAll(gpu.bridges());
    List<String> other = new ArrayList<>(gpu.bridges());
    other.removeAll(nic.bridges());
    all.addAll(other);
    return all;
  }

  private void acs(String who, List<String> redirecting) {
    if (redirecting.isEmpty()) {
      out.found("ACS", who, "no bridge on the way is seen to redirect peer-to-peer packets");
      return;
    }
    List<String> names =
        redirecting.stream().map(each -> each.substring(each.lastIndexOf('/') + 1)).toList();
    out.note(
        "ACS",
        who,
        "redirects peer-to-peer packets to the root complex at " + String.join(", ", names),
        "turn ACS off in the BIOS, or: setpci -s BRIDGE ECAP_ACS+6.w=0 for each (not with VMs)");
  }

  /** Only root may read beyond the first 64 bytes of the configuration space. */
  private boolean redirects(String bridge) {
    byte[] config = files.bytes(bridge + "/config").orElse(new byte[0]);
    int at = EXTENDED;
    for (int i = 0; i < 64 && at >= EXTENDED && at + 8 <= config.length; i++) {
      int head = word(config, at) | word(config, at + 2) << 16;
      if ((head & 0xffff) == ACS) {
        return (word(config, at + ACS_CONTROL) & REDIRECTS) != 0;
      }
      at = head >>> 20;
    }
    return false;
  }

  private static int word(byte[] bytes, int at) {
    return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8;
  }
}
