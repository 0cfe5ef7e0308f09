// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.time.Duration;

/** What an injected fault does to one WQE. */
public sealed interface Fault {
  /** Nothing: the WQE is executed as usual. */
  Fault NONE = new None();

  /** See {@link #NONE}. */
  record None() implements Fault {}

  /** The WQE is swallowed: no effect, no completion, no error. */
  record Drop() implements Fault {}

  /** The WQE has no effect and completes with this syndrome (1..255); the QP goes to ERROR. */
  record Fail(int syndrome) implements Fault {
    public Fail {
      if (syndrome < 1 || syndrome > 255) {
        throw new IllegalArgumentException("syndrome must be 1..255: " + syndrome);
      }
    }
  }

  /** The QP stalls for this long, then the WQE is executed. Other QPs go on. */
  record Delay(Duration duration) implements Fault {}
}
