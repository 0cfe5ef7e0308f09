// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.shim;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.gpuverbs.RdmaException;

/** A gv_error. */
final class NativeError {
  private static final long BYTES = 256;
  private static final long DETAIL = 4;
  private static final long TEXT = 8;

  /** A negative errno that says that an argument is wrong. */
  private static final int EINVAL = 22;

  private final MemorySegment memory;

  NativeError(Arena arena) {
    memory = arena.allocate(BYTES, 8);
  }

  long address() {
    return memory.address();
  }

  /** Throws unless {@code rc} is 0. */
  void check(String what, int rc) {
    if (rc == 0) {
      return;
    }
    String text = memory.getString(TEXT);
    if (-rc == EINVAL) {
      throw new IllegalArgumentException(what + ": " + text);
    }
    int detail = memory.get(JAVA_INT, DETAIL);
    throw new RdmaException(what, 0, detail != 0 ? detail : -rc, 0, text, null);
  }
}
