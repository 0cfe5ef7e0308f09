// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.logging.Level;
import java.util.logging.Logger;

/** The library's line for each queue pair made would drown the results. */
public final class Quiet {
  /** Held here, since java.util.logging forgets a level with its logger. */
  private static final Logger LOGGER = Logger.getLogger("org.gpuverbs");

  private Quiet() {}

  /** Leaves warnings. */
  public static void logs() {
    LOGGER.setLevel(Level.WARNING);
  }
}
