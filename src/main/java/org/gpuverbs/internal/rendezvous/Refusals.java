// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Connections that were dropped: each logged, the last kept for the message that a waiting caller
 * gets in the end.
 */
final class Refusals {
  private static final System.Logger LOG = System.getLogger("org.gpuverbs.Rendezvous");

  /** After so many the rest go to DEBUG, so that a port scan does not fill the log. */
  private static final int LOUD = 16;

  private int count;
  private @Nullable String last;

  synchronized void add(String who, String why) {
    count++;
    last = who + ": " + why;
    LOG.log(
        count <= LOUD ? Level.WARNING : Level.DEBUG,
        "dropped a connection from {0}: {1}{2}",
        who,
        why,
        count == LOUD ? " (further ones are logged at DEBUG)" : "");
  }

  /** For the end of a message: empty if there were none. */
  synchronized String text() {
    return count == 0
        ? ""
        : "; %d connection%s dropped, the last from %s"
            .formatted(count, count == 1 ? " was" : "s were", last);
  }
}
