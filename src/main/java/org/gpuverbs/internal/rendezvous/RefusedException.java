// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;

/**
 * The other side is a rendezvous of this version, and the two don't fit. The message says how to
 * make them.
 */
class RefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  RefusedException(String message) {
    super(message);
  }
}
