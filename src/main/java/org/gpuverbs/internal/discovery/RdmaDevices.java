// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.discovery;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The kernel's RDMA devices and the library that opens them. */
public final class RdmaDevices {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final String VERBS = "libibverbs.so.1";

  private RdmaDevices() {}

  /** Names such as mlx5_0, sorted; empty without RDMA in the kernel. */
  public static List<String> names() {
    if (!Files.isDirectory(DEVICES)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(DEVICES)) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Whether libibverbs can be opened. */
  public static boolean verbsLibrary() {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup.libraryLookup(VERBS, arena);
      return true;
    } catch (IllegalArgumentException | IllegalCallerException e) {
      return false;
    }
  }
}
