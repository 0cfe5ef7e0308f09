// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** The library's logger, {@code org.gpuverbs}. */
final class Log {
  static final System.Logger LOGGER = System.getLogger("org.gpuverbs");

  private Log() {}
}
