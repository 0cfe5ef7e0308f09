// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** HMAC-SHA256 and what is derived with it. */
final class Secrets {
  static final int MAC = 32;

  private static final String ALGORITHM = "HmacSHA256";

  /** Without a secret the MACs only catch damage; the key is then this text, which is no secret. */
  private static final byte[] NONE =
      "gpuverbs rendezvous without a secret".getBytes(StandardCharsets.US_ASCII);

  private Secrets() {}

  static byte[] nonce() {
    byte[] nonce = new byte[Hello.NONCE];
    new SecureRandom().nextBytes(nonce);
    return nonce;
  }

  static byte[] keyOf(byte @Nullable [] secret) {
    return secret == null ? NONE : secret;
  }

  /**
   * A MAC over a label, a zero byte and the parts. Callers keep every part's length fixed or last.
   */
  static byte[] mac(byte[] key, String label, byte[]... parts) {
    Mac mac = start(key);
    mac.update(label.getBytes(StandardCharsets.US_ASCII));
    mac.update((byte) 0);
    for (byte[] part : parts) {
      mac.update(part);
    }
    return mac.doFinal();
  }

  static Mac start(byte[] key) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac;
    } catch (GeneralSecurityException e) {
      // Every Java platform must have it.
      throw new IllegalStateException("this JDK has no " + ALGORITHM, e);
    }
  }

  /** In constant time. */
  static boolean same(byte[] a, byte[] b) {
    return MessageDigest.isEqual(a, b);
  }
}
