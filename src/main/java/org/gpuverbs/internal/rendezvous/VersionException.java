// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

/** The other side is a rendezvous of another version. */
final class VersionException extends StrangerException {
  private static final long serialVersionUID = 1L;

  VersionException(int version) {
    super(
        "it speaks rendezvous version %d and this side version %d"
            .formatted(version, Hello.VERSION));
  }
}
