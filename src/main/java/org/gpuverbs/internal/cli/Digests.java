// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 of native memory. */
final class Digests {
  private Digests() {}

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      // Every Java platform must have it.
      throw new IllegalStateException("this JDK has no SHA-256", e);
    }
  }

  static byte[] of(MemorySegment segment) {
    MessageDigest digest = sha256();
    update(digest, segment);
    return digest.digest();
  }

  static void update(MessageDigest digest, MemorySegment segment) {
    digest.update(segment.asByteBuffer());
  }
}
