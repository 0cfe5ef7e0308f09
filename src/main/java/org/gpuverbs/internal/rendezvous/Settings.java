// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What both sides of a rendezvous are given. Not a record: its text must not show the secret. */
public final class Settings {
  private final byte @Nullable [] secret;
  private final boolean insecure;
  private final Duration timeout;

  public Settings(byte @Nullable [] secret, boolean insecure, Duration timeout) {
    this.secret = secret;
    this.insecure = insecure;
    this.timeout = timeout;
  }

  public Settings withTimeout(Duration other) {
    return new Settings(secret, insecure, other);
  }

  byte @Nullable [] secret() {
    return secret;
  }

  boolean hasSecret() {
    return secret != null;
  }

  Deadline deadline() {
    return Deadline.after(timeout);
  }

  /** Refuses an address that needs a secret, and one whose name was not resolved. */
  void check(InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException(
          "host %s can't be resolved: check the name, or use its IP address"
              .formatted(address.getHostString()));
    }
    if (secret == null && !insecure && !address.getAddress().isLoopbackAddress()) {
      throw new IllegalArgumentException(
          ("%s is not a loopback address, so anybody on the network could take part: use Options.secret(...) on both"
                  + " sides, or Options.insecure() on a closed network")
              .formatted(address));
    }
  }
}
