// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;

/** The CUDA driver, called beside the library, as another program part would. */
final class Driver {
  private final SymbolLookup cuda = SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());

  /** Whether it is native/test/fake_cuda.cpp. */
  boolean isFake() {
    return cuda.find("fake_hold").isPresent();
  }

  /** A function that returns a CUresult: longs, ints and pointers go in. */
  int call(String name, Object... arguments) {
    MemoryLayout[] layouts = new MemoryLayout[arguments.length];
    for (int i = 0; i < arguments.length; i++) {
      layouts[i] =
          arguments[i] instanceof Long
              ? JAVA_LONG
              : arguments[i] instanceof Integer ? JAVA_INT : ADDRESS;
    }
    try {
      return (int)
          Linker.nativeLinker()
              .downcallHandle(cuda.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, layouts))
              .invokeWithArguments(arguments);
    } catch (Throwable t) {
      throw new AssertionError(name, t);
    }
  }

  /** As {@link #call}, and it must succeed. */
  void require(String name, Object... arguments) {
    int result = call(name, arguments);
    if (result != 0) {
      throw new AssertionError(name + " gave " + result);
    }
  }
}
