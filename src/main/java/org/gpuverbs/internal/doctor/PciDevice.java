// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gpuverbs.internal.discovery.KernelFiles;

/**
 * A PCI device.
 *
 * @param path its directory below the root: the bridges above it are the names before its own
 * @param numaNode -1 if unknown
 */
record PciDevice(String path, int numaNode) {
  private static final String ADDRESS = "\\p{XDigit}{4,}:\\p{XDigit}{2}:\\p{XDigit}{2}\\.[0-7]";
  private static final String NVIDIA = "0x10de";
  private static final String DISPLAY = "0x03";

  static PciDevice at(KernelFiles files, String path) {
    int node =
        files
            .read(path + "/numa_node")
            .filter(text -> text.matches("-?\\d{1,4}"))
            .map(Integer::parseInt)
            .orElse(-1);
    return new PciDevice(path, node);
  }

  /** NVIDIA's GPUs. */
  static List<PciDevice> gpus(KernelFiles files) {
    List<PciDevice> found = new ArrayList<>();
    for (String each : files.list("sys/bus/pci/devices")) {
      String link = "sys/bus/pci/devices/" + each;
      boolean gpu =
          files.read(link + "/vendor").orElse("").equals(NVIDIA)
              && files.read(link + "/class").orElse("").startsWith(DISPLAY);
      Optional<String> path = gpu ? files.target(link) : Optional.empty();
      path.ifPresent(real -> found.add(at(files, real)));
    }
    return found;
  }

  String address() {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** The root complex: the directory such as pci0000:00. */
  String root() {
    for (String part : path.split("/")) {
      if (part.matches("pci\\p{XDigit}{4,}:\\p{XDigit}{2}")) {
        return part;
      }
    }
    return "";
  }

  /** Directories of the bridges above it, the outermost first. */
  List<String> bridges() {
    List<String> found = new ArrayList<>();
    int at = -1;
    while ((at = path.indexOf('/', at + 1)) >= 0) {
      String part = path.substring(0, at);
      if (part.substring(part.lastIndexOf('/') + 1).matches(ADDRESS)) {
        found.add(part);
      }
    }
    return found;
  }
}
