// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

/**
 * The command line is wrong, or names a file that can't be used: exit status 2. The message says
 * what to write instead.
 */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}
