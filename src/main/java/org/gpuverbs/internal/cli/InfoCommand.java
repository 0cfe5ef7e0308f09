// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.gpuverbs.Availability;
import org.gpuverbs.Gpu;
import org.gpuverbs.GpuInfo;
import org.gpuverbs.GpuVerbs;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.gpuverbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * The info command: what this machine has, and for each missing piece why and what would enable it.
 */
final class InfoCommand {
  static final String USAGE =
      """
      usage: info [--json]
        Says what this machine has: platform, native library, NICs and the paths they offer, GPU, limits; and for each missing
        piece why, and what would enable it. Exit status 0 if queue pairs can be made here.
      """;

  private static final int INDENT = 15;
  private static final Set<String> STATUS = Set.of("available", "reason", "fix");

  private final Machine machine;

  InfoCommand(Machine machine) {
    this.machine = machine;
  }

  static int run(List<String> words, PrintStream out) throws UsageException {
    Arguments arguments = Arguments.parse(words, Set.of("--json"), Set.of());
    if (!arguments.rest().isEmpty()) {
      throw new UsageException("info takes no %s".formatted(arguments.rest().getFirst()));
    }
    Map<String, Object> facts = new InfoCommand(Machine.here()).facts();
    if (arguments.has("--json")) {
      Map<String, Object> json = new LinkedHashMap<>();
      facts.forEach((name, value) -> json.put(key(name), value));
      out.println(Json.of(json));
    } else {
      facts.forEach((name, value) -> print(out, name, value));
    }
    return GpuVerbs.isAvailable() ? Main.OK : Main.FAILED;
  }

  /** Such as {@code nativeLibrary} for {@code native library}. */
  private static String key(String name) {
    StringBuilder key = new StringBuilder();
    for (String word : name.toLowerCase(Locale.ROOT).split(" ")) {
      key.append(key.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
    }
    return key.toString();
  }

  /** In the order of the text. */
  Map<String, Object> facts() {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("gpuverbs", GpuVerbs.version());
    facts.put(
        "platform",
        "%s %s, %s, %d CPUs"
            .formatted(
                System.getProperty("os.name"),
                System.getProperty("os.version"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors()));
    facts.put(
        "Java",
        "%s (%s), %s"
            .formatted(
                System.getProperty("java.runtime.version"),
                System.getProperty("java.vendor"),
                System.getProperty("java.home")));
    facts.put("native library", nativeLibrary());
    facts.put("NICs", Nic.list().stream().map(nic -> nic(nic)).toList());
    facts.put("RDMA devices", rdmaDevices());
    facts.put("GPU", gpu());
    facts.put("locked memory", lockedMemory());
    facts.put("container", container());
    return facts;
  }

  private static Map<String, Object> nativeLibrary() {
    RdmaException cause = GpuVerbs.unavailabilityCause();
    Map<String, Object> map = status(cause == null, cause == null ? "" : cause.getMessage(), "");
    String directory = System.getProperty("org.gpuverbs.native.dir");
    map.put("from", directory == null ? "the jar" : directory);
    return map;
  }

  private static Map<String, Object> nic(NicInfo nic) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", nic.name());
    map.put("paths", paths(nic, null));
    return map;
  }

  /** What the NIC says of each path but one. */
  static Map<String, Object> paths(NicInfo nic, @Nullable Path except) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (Path path : Path.values()) {
      if (path != except) {
        Availability availability = nic.path(path);
        map.put(
            path.toString(),
            status(availability.available(), availability.reason(), availability.fix()));
      }
    }
    return map;
  }

  private Map<String, Object> rdmaDevices() {
    List<String> devices = machine.rdmaDevices();
    if (devices.isEmpty()) {
      return status(
          false,
          "no device in /sys/class/infiniband",
          "needs an RDMA NIC and its driver; without one the software NIC moves the bytes");
    }
    Map<String, Object> map =
        machine.hasVerbsFiles()
            ? status(true, "", "")
            : status(
                false,
                "no /dev/infiniband/uverbs*",
                "load ib_uverbs; in a container: --device=/dev/infiniband --cap-add=IPC_LOCK");
    map.put("devices", devices);
    return map;
  }

  private Map<String, Object> gpu() {
    String driver = machine.nvidiaDriver().orElse(null);
    String library = machine.library("libcuda.so.1").map(Object::toString).orElse(null);
    Map<String, Object> map;
    if (driver == null) {
      map =
          status(
              false,
              "no CUDA driver: there is no /proc/driver/nvidia/version",
              "needs an NVIDIA GPU and its driver; without one CPU lane threads run the submit path");
    } else if (library == null) {
      map =
          status(
              false,
              "the kernel driver %s is loaded, but libcuda.so.1 was not found".formatted(driver),
              "install the driver's user-space libraries; in a container: --gpus all");
    } else {
      map = status(true, "", "");
      map.put("driver", driver);
      map.put("libcuda", library);
    }
    if (!machine.gpus().isEmpty()) {
      map.put("models", machine.gpus());
    }
    map.put(
        "libnvidia-ml",
        machine.library("libnvidia-ml.so.1").map(Object::toString).orElse("not found"));
    RdmaException cause = Gpu.unavailabilityCause();
    if (cause == null) {
      map.put("devices", Gpu.list().stream().map(InfoCommand::describe).toList());
      RdmaException compiler = Gpu.compilerUnavailabilityCause();
      map.put("NVRTC", compiler == null ? "found" : "not found: " + compiler.hint());
    } else {
      map.put("used", "no, CPU lane threads submit: " + cause.hint());
    }
    return map;
  }

  private static String describe(GpuInfo gpu) {
    return "%d: %s, compute %d.%d, %d SMs, %s, CUDA %s%s, NIC writes ordered for %s"
        .formatted(
            gpu.ordinal(),
            gpu.name(),
            gpu.computeMajor(),
            gpu.computeMinor(),
            gpu.multiprocessors(),
            Units.bytes(gpu.memoryBytes()),
            gpu.driverVersion(),
            gpu.gpuDirectRdma() ? ", GPUDirect RDMA" : "",
            gpu.writesOrdering());
  }

  private Map<String, Object> lockedMemory() {
    String limit = machine.lockedMemory().orElse("unknown");
    Map<String, Object> map = new LinkedHashMap<>();
    if (!limit.matches("\\d+")) {
      map.put("limit", limit);
      return map;
    }
    long bytes = Long.parseLong(limit);
    map.put("limit", Units.bytes(bytes));
    map.put("bytes", bytes);
    if (bytes < 1L << 30) {
      map.put(
          "note",
          "the software NIC locks none; RDMA devices need more: ulimit -l unlimited, in a container"
              + " --ulimit memlock=-1");
    }
    return map;
  }

  private Map<String, Object> container() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("kind", machine.container().orElse("none seen"));
    machine.memoryLimit().ifPresent(limit -> map.put("memory limit", Units.bytes(limit)));
    return map;
  }

  private static Map<String, Object> status(
      boolean available, @Nullable String reason, String fix) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("available", available);
    if (!available) {
      map.put("reason", String.valueOf(reason));
      if (!fix.isEmpty()) {
        map.put("fix", fix);
      }
    }
    return map;
  }

  private static void print(PrintStream out, String name, Object value) {
    List<String> lines = new ArrayList<>();
    lines(value, lines);
    String label = name;
    for (String line : lines) {
      out.println(label + " ".repeat(Math.max(1, INDENT - label.length())) + line);
      label = "";
    }
  }

  private static void lines(Object value, List<String> lines) {
    switch (value) {
      case List<?> list -> list.forEach(each -> lines(each, lines));
      case Map<?, ?> map -> map(map, lines);
      default -> lines.add(value.toString());
    }
  }

  /** A status first; then each entry, behind its name. */
  private static void map(Map<?, ?> map, List<String> lines) {
    if (map.get("available") instanceof Boolean available) {
      lines.add(available ? "available" : "not available: " + map.get("reason"));
      if (map.containsKey("fix")) {
        lines.add("  to enable: " + map.get("fix"));
      }
    }
    map.forEach(
        (key, value) -> {
          if (STATUS.contains(key)) {
            return;
          }
          List<String> inner = new ArrayList<>();
          lines(value, inner);
          if (value instanceof Map<?, ?> nested && !nested.containsKey("available")) {
            inner.forEach(line -> lines.add("  " + line));
          } else if (value instanceof Map) {
            lines.add(key + " " + inner.getFirst());
            inner.stream().skip(1).forEach(line -> lines.add("  " + line));
          } else {
            lines.add(key + ": " + String.join(", ", inner));
          }
        });
  }
}
