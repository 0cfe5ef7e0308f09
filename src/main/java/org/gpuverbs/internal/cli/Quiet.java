// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps the library's INFO lines (one a queue pair, and the demo makes hundreds) out of the
 * commands' output, unless the user has configured logging.
 */
final class Quiet {
  /** java.util.logging holds its loggers weakly, and would forget their levels. */
  private static final List<Object> LOGGERS = new ArrayList<>();

  private Quiet() {}

  /** Shows warnings and errors only. */
  static void warningsOnly() {
    if (System.getProperty("java.util.logging.config.file") == null
        && System.getProperty("java.util.logging.config.class") == null) {
      level("org.gpuverbs", "WARNING");
    }
  }

  /**
   * Sets a level by reflection: this module does not require java.logging, and works without it.
   */
  static void level(String logger, String level) {
    try {
      Class<?> levels = Class.forName("java.util.logging.Level");
      Class<?> loggers = Class.forName("java.util.logging.Logger");
      Object found = loggers.getMethod("getLogger", String.class).invoke(null, logger);
      Method set = loggers.getMethod("setLevel", levels);
      set.invoke(found, levels.getField(level).get(null));
      LOGGERS.add(found);
    } catch (ReflectiveOperationException e) {
      // No java.logging here: System.Logger's fallback has a switch of its own, read when the first
      // logger is made.
      if (System.getProperty("jdk.system.logger.level") == null) {
        System.setProperty("jdk.system.logger.level", level);
      }
    }
  }
}
