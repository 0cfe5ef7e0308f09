// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;

/** Switches of native/test/fake_cuda.cpp, a CUDA driver without a GPU. */
final class FakeGpu {
  private static final SymbolLookup CUDA =
      SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());

  private FakeGpu() {}

  /** Whether the driver refuses to map a NIC's registers, with CUDA_ERROR_NOT_PERMITTED. */
  static void refuseIoMemory(boolean yes) {
    call("fake_refuse_io_memory", yes ? 1 : 0);
  }

  /** Whether the driver refuses to export memory as a dma-buf. */
  static void refuseDmaBuf(boolean yes) {
    call("fake_refuse_dmabuf", yes ? 1 : 0);
  }

  /** Registrations of host memory and registers that are left. */
  static int registered() {
    return call("fake_registered", 0);
  }

  private static int call(String name, int argument) {
    try {
      return (int)
          Linker.nativeLinker()
              .downcallHandle(CUDA.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, JAVA_INT))
              .invokeExact(argument);
    } catch (Throwable t) {
      throw new AssertionError(name, t);
    }
  }
}
