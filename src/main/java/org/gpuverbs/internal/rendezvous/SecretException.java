// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

/** The two sides have different secrets. */
final class SecretException extends RefusedException {
  private static final long serialVersionUID = 1L;

  SecretException(String message) {
    super(message);
  }
}
