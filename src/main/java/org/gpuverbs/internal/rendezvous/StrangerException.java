// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;

/**
 * The other side sent what no rendezvous of this version sends, or did not prove that it knows the
 * secret.
 */
class StrangerException extends IOException {
  private static final long serialVersionUID = 1L;

  StrangerException(String message) {
    super(message);
  }
}
