// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

/**
 * A run that can't be done or failed, with what to do about it; the command prints the text alone.
 */
final class PerfException extends RuntimeException {
  private static final long serialVersionUID = 1;

  PerfException(String message) {
    super(message);
  }

  PerfException(String message, Throwable cause) {
    super(message, cause);
  }
}
