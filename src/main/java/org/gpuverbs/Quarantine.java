// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.System.Logger.Level;
import org.gpuverbs.internal.events.CloseQuarantined;
import org.jspecify.annotations.Nullable;

/** Memory that can't be freed safely is left allocated, and said to be. */
final class Quarantine {
  private Quarantine() {}

  static void report(String what, @Nullable Throwable cause) {
    Log.LOGGER.log(
        Level.WARNING,
        what + " was still in use when its close timeout ended: its memory stays allocated",
        cause);
    CloseQuarantined event = new CloseQuarantined();
    event.what = what;
    event.commit();
  }
}
