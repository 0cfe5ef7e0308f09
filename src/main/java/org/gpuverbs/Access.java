// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/**
 * What may be done with a memory region besides being read locally, which is always allowed. The
 * bits are those of {@code enum ibv_access_flags}.
 */
public enum Access {
  /** This NIC may write: targets of READ, of atomics' results and of receives. */
  LOCAL_WRITE(1),
  /** A peer may WRITE; implies {@link #LOCAL_WRITE}. */
  REMOTE_WRITE(2),
  /** A peer may READ. */
  REMOTE_READ(4),
  /** A peer may COMPARE-SWAP and FETCH-ADD; implies {@link #LOCAL_WRITE}. */
  REMOTE_ATOMIC(8);

  private final int bit;

  Access(int bit) {
    this.bit = bit;
  }

  int bit() {
    return bit;
  }

  /** The set with what it implies. */
  static Set<Access> closure(Collection<Access> access) {
    Set<Access> result = EnumSet.noneOf(Access.class);
    result.addAll(access);
    if (result.contains(REMOTE_WRITE) || result.contains(REMOTE_ATOMIC)) {
      result.add(LOCAL_WRITE);
    }
    return result;
  }

  static int bits(Collection<Access> access) {
    int bits = 0;
    for (Access a : access) {
      bits |= a.bit;
    }
    return bits;
  }
}
