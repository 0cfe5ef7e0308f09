// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.discovery;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;

/** The libraries that open RDMA devices. */
public final class RdmaDevices {
  private RdmaDevices() {}

  /** Whether the dynamic linker finds a library, such as libibverbs.so.1. */
  public static boolean canLoad(String library) {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup.libraryLookup(library, arena);
      return true;
    } catch (IllegalArgumentException | IllegalCallerException e) {
      return false;
    }
  }
}
