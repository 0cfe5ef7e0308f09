// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gpuverbs.internal.discovery.KernelFiles;

/** What lets a GPU's memory be registered with a NIC, and the NIC's doorbell be mapped into it. */
record GpuChecks(KernelFiles files, Predicate<String> libraries, Findings out) {
  private static final Pattern VERSION = Pattern.compile("Kernel Module.*?\\s(\\d+)\\.[\\d.]+\\s");

  /** The first branch whose open kernel modules export dma-buf for RDMA. */
  private static final int DMA_BUF_BRANCH = 515;

  void run(List<PciDevice> gpus) {
    String driver = files.read("proc/driver/nvidia/version").orElse("");
    if (driver.isEmpty()) {
      if (gpus.isEmpty()) {
        out.note("GPU", "", "none: CPU lane threads run the submit path", "install an NVIDIA GPU");
      } else {
        out.missing(
            "GPU",
            "",
            gpus.size() + " on the PCI bus, but no driver: there is no /proc/driver/nvidia/version",
            "install NVIDIA's driver, or start the container with --gpus all");
      }
      return;
    }
    Matcher version = VERSION.matcher(driver);
    int branch = version.find() ? Integer.parseInt(version.group(1)) : 0;
    boolean open = driver.contains("Open Kernel Module");
    out.found(
        "GPU",
        "",
        "%s, driver branch %d, %s kernel modules"
            .formatted(
                gpus.size() == 1 ? "1 GPU" : gpus.size() + " GPUs",
                branch,
                open ? "open" : "proprietary"));
    if (!libraries.test("libcuda.so.1")) {
      out.missing(
          "libcuda",
          "",
          "libcuda.so.1 can't be opened",
          "install the driver's user-space libraries, or start the container with --gpus all");
    }
    registration(open, branch);
    doorbell();
  }

  private void registration(boolean open, int branch) {
    boolean peerMemory =
        files.exists("sys/module/nvidia_peermem") || files.exists("sys/module/nv_peer_mem");
    boolean dmaBuf = open && branch >= DMA_BUF_BRANCH;
    if (dmaBuf) {
      out.found(
          "GPU memory",
          "",
          "dma-buf (open kernel modules)" + (peerMemory ? " and nvidia-peermem" : ""));
    } else if (peerMemory) {
      out.found("GPU memory", "", "nvidia-peermem is loaded");
    } else {
      out.missing(
          "GPU memory",
          "",
          "neither dma-buf nor nvidia-peermem: no NIC can register memory of a GPU",
          "modprobe nvidia-peermem (it needs MLNX_OFED or a kernel with peer memory), or install the"
              + " open kernel modules of branch %d or newer on Linux 5.12 or newer"
                  .formatted(DMA_BUF_BRANCH));
    }
  }

  private void doorbell() {
    String parameters = files.read("proc/driver/nvidia/params").orElse("");
    if (parameters.contains("PeerMappingOverride=1")) {
      out.found("doorbell mapping", "", "PeerMappingOverride=1");
    } else {
      out.note(
          "doorbell mapping",
          "",
          "PeerMappingOverride is not set: mapping the NIC's doorbell page into the GPU"
              + " (cuMemHostRegister with IOMEMORY) may be refused with error 800; a CPU thread then"
              + " rings",
          "options nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\" in"
              + " /etc/modprobe.d/nvidia.conf, update-initramfs -u, reboot");
    }
    if (!files.list("sys/kernel/iommu_groups").isEmpty()) {
      out.note(
          "IOMMU",
          "",
          "on: peer-to-peer between GPU and NIC may be slow or refused",
          "iommu=pt on the kernel's command line, or off in the BIOS");
    } else {
      out.found("IOMMU", "", "off, or not seen");
    }
  }
}
