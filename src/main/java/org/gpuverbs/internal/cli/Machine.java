// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the kernel's files say of this machine, under a root that tests replace. Whatever can't be
 * read is absent.
 */
final class Machine {
  /**
   * Where the dynamic linker and NVIDIA's container runtime put driver libraries, on the platforms
   * of this library.
   */
  private static final List<String> LIBRARY_DIRECTORIES =
      List.of(
          "usr/lib/x86_64-linux-gnu",
          "usr/lib/aarch64-linux-gnu",
          "usr/lib64",
          "usr/lib",
          "usr/local/nvidia/lib64",
          "usr/lib/wsl/lib",
          "usr/local/lib",
          "run/opengl-driver/lib");

  private static final Pattern LOCKED =
      Pattern.compile("(?m)^Max locked memory\\s+(\\S+)\\s+(\\S+)");
  private static final Pattern DRIVER = Pattern.compile("Kernel Module.*?\\s(\\d+\\.[\\d.]+)\\s");
  private static final Pattern MODEL = Pattern.compile("(?m)^Model:\\s*(.+?)\\s*$");
  private static final Pattern PEAK = Pattern.compile("(?m)^VmHWM:\\s+(\\d+) kB");
  private static final Pattern CONTAINER =
      Pattern.compile("kubepods|docker|containerd|libpod|lxc|crio");

  private final Path root;
  private final String libraryPath;

  /**
   * @param root such as {@code /}
   * @param libraryPath LD_LIBRARY_PATH, or the empty string
   */
  Machine(Path root, String libraryPath) {
    this.root = root;
    this.libraryPath = libraryPath;
  }

  static Machine here() {
    return new Machine(
        Path.of("/"), Optional.ofNullable(System.getenv("LD_LIBRARY_PATH")).orElse(""));
  }

  /** The soft limit of locked memory: bytes, or {@code unlimited}. */
  Optional<String> lockedMemory() {
    return find("proc/self/limits", LOCKED);
  }

  /** The most memory this process has had resident, in bytes. */
  Optional<Long> peakResident() {
    return find("proc/self/status", PEAK).map(kib -> Long.parseLong(kib) * 1024);
  }

  /** The kind of container that this process runs in. */
  Optional<String> container() {
    if (Files.exists(root.resolve(".dockerenv"))) {
      return Optional.of("docker");
    }
    if (Files.exists(root.resolve("run/.containerenv"))) {
      return Optional.of("podman");
    }
    return read("proc/self/cgroup").flatMap(text -> group(CONTAINER.matcher(text), 0));
  }

  /** The memory limit of the container: bytes; absent if there is none. */
  Optional<Long> memoryLimit() {
    return read("sys/fs/cgroup/memory.max")
        .map(String::strip)
        .filter(text -> text.matches("\\d{1,18}"))
        .map(Long::parseLong);
  }

  /** RDMA devices that the kernel knows. */
  List<String> rdmaDevices() {
    return list("sys/class/infiniband");
  }

  /**
   * Whether the devices' files, without which they can't be opened, are here: containers leave them
   * out.
   */
  boolean hasVerbsFiles() {
    return list("dev/infiniband").stream().anyMatch(name -> name.startsWith("uverbs"));
  }

  /** The version of NVIDIA's kernel driver. */
  Optional<String> nvidiaDriver() {
    return find("proc/driver/nvidia/version", DRIVER);
  }

  /** The models of the GPUs that the kernel driver knows. */
  List<String> gpus() {
    List<String> models = new ArrayList<>();
    for (String slot : list("proc/driver/nvidia/gpus")) {
      models.add(find("proc/driver/nvidia/gpus/" + slot + "/information", MODEL).orElse(slot));
    }
    return models;
  }

  /** Where a shared library lies, if in one of the usual places. */
  Optional<Path> library(String name) {
    List<Path> directories = new ArrayList<>();
    for (String each : libraryPath.split(":")) {
      try {
        if (!each.isBlank()) {
          directories.add(Path.of(each));
        }
      } catch (InvalidPathException e) {
        // The dynamic linker would not find it either.
      }
    }
    LIBRARY_DIRECTORIES.forEach(each -> directories.add(root.resolve(each)));
    return directories.stream().map(each -> each.resolve(name)).filter(Files::exists).findFirst();
  }

  private Optional<String> find(String file, Pattern pattern) {
    return read(file).flatMap(text -> group(pattern.matcher(text), 1));
  }

  private static Optional<String> group(Matcher matcher, int group) {
    return matcher.find() ? Optional.of(matcher.group(group)) : Optional.empty();
  }

  private Optional<String> read(String file) {
    try {
      return Optional.of(Files.readString(root.resolve(file)));
    } catch (IOException | SecurityException e) {
      return Optional.empty();
    }
  }

  private List<String> list(String directory) {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(root.resolve(directory))) {
      entries.forEach(entry -> names.add(entry.getFileName().toString()));
    } catch (IOException | SecurityException e) {
      return List.of();
    }
    Collections.sort(names);
    return names;
  }
}
