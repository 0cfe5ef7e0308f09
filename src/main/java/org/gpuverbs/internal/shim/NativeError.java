// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.shim;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.ffi.gv_error;

/** A gv_error. */
final class NativeError {
  /** errno of Linux: an argument is wrong. */
  private static final int EINVAL = 22;

  private final MemorySegment error;

  NativeError(Arena arena) {
    error = gv_error.allocate(arena);
  }

  MemorySegment segment() {
    return error;
  }

  /** Throws unless {@code rc} is 0. */
  void check(String what, int rc) {
    if (rc == 0) {
      return;
    }
    String text = gv_error.text(error).getString(0);
    if (-rc == EINVAL) {
      throw new IllegalArgumentException(what + ": " + text);
    }
    require(what, rc);
  }

  /** As {@link #check}, where it is the machine's state that is wrong and no argument. */
  void require(String what, int rc) {
    if (rc == 0) {
      return;
    }
    String text = gv_error.text(error).getString(0);
    int detail = gv_error.detail(error);
    throw new RdmaException(what, 0, detail != 0 ? detail : -rc, 0, text, null);
  }

  /** As {@link #require}, of what is closed: what can't be freed the device may still write to. */
  void letGo(String what, int rc) {
    if (rc != 0) {
      try {
        require(what + " can't be closed", rc);
      } catch (RdmaException e) {
        throw new IllegalStateException(e.getMessage() + ": " + e.hint(), e);
      }
    }
  }
}
