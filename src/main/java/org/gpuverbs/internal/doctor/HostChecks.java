// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.discovery.KernelFiles;
import org.gpuverbs.internal.discovery.RdmaDevice;
import org.jspecify.annotations.Nullable;

/** Libraries, the kernel's RDMA stack, and what the process may do. */
record HostChecks(
    KernelFiles files,
    Predicate<String> libraries,
    @Nullable RdmaException nativeCause,
    Findings out) {
  private static final Pattern LOCKED =
      Pattern.compile("(?m)^Max locked memory\\s+(\\S+)\\s+(\\S+)");
  private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s*(\\p{XDigit}+)");
  private static final Pattern CONTAINER =
      Pattern.compile("kubepods|docker|containerd|libpod|lxc|crio");

  // linux/include/uapi/linux/capability.h
  private static final int CAP_NET_RAW = 13;
  private static final int CAP_IPC_LOCK = 14;
  private static final int CAP_SYS_RAWIO = 17;

  private static final long ENOUGH_LOCKED = 1L << 30;

  void run(List<RdmaDevice> devices) {
    libraries(devices.stream().anyMatch(RdmaDevice::mlx5));
    kernel(devices);
    privileges(devices);
    lockedMemory();
  }

  private void libraries(boolean mlx5) {
    if (nativeCause == null) {
      out.found("native library", "", "libgpuverbs is loaded");
    } else {
      out.missing("native library", "", String.valueOf(nativeCause.getMessage()), hint());
    }
    if (libraries.test("libibverbs.so.1")) {
      out.found("libibverbs", "", "libibverbs.so.1 can be opened");
    } else {
      out.missing(
          "libibverbs",
          "",
          "libibverbs.so.1 can't be opened",
          "install libibverbs1 and ibverbs-providers (Debian, Ubuntu) or libibverbs (Fedora, RHEL)");
    }
    if (mlx5 && !libraries.test("libmlx5.so.1")) {
      out.missing(
          "libmlx5",
          "",
          "libmlx5.so.1 can't be opened, which DIRECT needs",
          "install ibverbs-providers (Debian, Ubuntu) or rdma-core");
    } else if (mlx5) {
      out.found("libmlx5", "", "libmlx5.so.1 can be opened");
    }
  }

  private String hint() {
    return nativeCause == null ? "" : String.valueOf(nativeCause.hint());
  }

  private void kernel(List<RdmaDevice> devices) {
    if (devices.isEmpty()) {
      String found =
          files.exists("sys/class/infiniband")
              ? "the kernel's RDMA stack is loaded, but /sys/class/infiniband is empty"
              : "the kernel has no RDMA stack: there is no /sys/class/infiniband";
      out.missing(
          "RDMA device",
          "",
          found,
          "install the NIC and load its driver (modprobe mlx5_ib); for soft-RoCE: modprobe rdma_rxe"
              + " and rdma link add rxe0 type rxe netdev eth0");
      return;
    }
    out.found(
        "RDMA device", "", String.join(", ", devices.stream().map(RdmaDevice::name).toList()));
    List<String> verbs =
        files.list("dev/infiniband").stream().filter(each -> each.startsWith("uverbs")).toList();
    if (verbs.isEmpty()) {
      out.missing(
          "uverbs",
          "",
          "no /dev/infiniband/uverbs*: devices can't be opened",
          container().isPresent()
              ? "start the container with --device=/dev/infiniband"
              : "modprobe ib_uverbs");
      return;
    }
    List<String> refused =
        verbs.stream().filter(each -> !files.usable("dev/infiniband/" + each)).toList();
    if (refused.isEmpty()) {
      out.found("uverbs", "", String.join(", ", verbs));
    } else {
      out.missing(
          "uverbs",
          "",
          "no permission to open /dev/infiniband/" + String.join(", ", refused),
          "chmod 666 /dev/infiniband/uverbs* (the udev rules of rdma-core do), or join their group");
    }
  }

  private Optional<String> container() {
    if (files.exists(".dockerenv")) {
      return Optional.of("docker");
    }
    if (files.exists("run/.containerenv")) {
      return Optional.of("podman");
    }
    return files
        .read("proc/self/cgroup")
        .map(CONTAINER::matcher)
        .filter(Matcher::find)
        .map(Matcher::group);
  }

  private void privileges(List<RdmaDevice> devices) {
    String kind = container().orElse("none");
    Optional<Long> effective =
        files
            .read("proc/self/status")
            .map(CAPABILITIES::matcher)
            .filter(Matcher::find)
            .map(each -> Long.parseUnsignedLong(each.group(1), 16));
    if (kind.equals("none")) {
      out.found("container", "", "not in one");
      return;
    }
    long bits = effective.orElse(0L);
    boolean lock = (bits >>> CAP_IPC_LOCK & 1) != 0;
    boolean raw = (bits >>> CAP_NET_RAW & bits >>> CAP_SYS_RAWIO & 1) != 0;
    if (devices.stream().anyMatch(RdmaDevice::mlx5) && !raw) {
      out.note(
          "container",
          "",
          kind + " without the privileges that DEVX objects and UAR pages need (DIRECT)",
          "docker run --privileged, or --cap-add=SYS_RAWIO --cap-add=NET_RAW"
              + " --device=/dev/infiniband");
    } else if (!lock) {
      out.note(
          "container",
          "",
          kind + " without CAP_IPC_LOCK: the limit of locked memory applies",
          "--cap-add=IPC_LOCK, or --ulimit memlock=-1");
    } else {
      out.found("container", "", kind);
    }
  }

  private void lockedMemory() {
    Matcher limits = LOCKED.matcher(files.read("proc/self/limits").orElse(""));
    if (!limits.find()) {
      out.note("locked memory", "", "the limit is unknown: no /proc/self/limits", "");
    } else if (!limits.group(1).matches("\\d{1,18}")) {
      out.found("locked memory", "", limits.group(1));
    } else {
      long bytes = Long.parseLong(limits.group(1));
      if (bytes >= ENOUGH_LOCKED) {
        out.found("locked memory", "", bytes / (1 << 20) + " MiB");
      } else {
        out.note(
            "locked memory",
            "",
            bytes / 1024 + " KiB: registering more than that with an RDMA device fails",
            "ulimit -l unlimited, memlock in /etc/security/limits.conf, LimitMEMLOCK=infinity in a"
                + " systemd unit, --ulimit memlock=-1 in a container");
      }
    }
  }
}
