// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.fail;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Rendezvous;
import org.gpuverbs.Rendezvous.Options;

/**
 * What the rendezvous tests share: addresses, secrets, and the other side on a thread of its own.
 */
final class Parties {
  static final byte[] SECRET = "a secret that only tests know".getBytes();
  static final byte[] OTHER_SECRET = "a secret that nobody asked for".getBytes();
  static final Duration PATIENCE = Duration.ofSeconds(20);

  /** For waits that must end in vain, and nothing else. */
  static final Duration SHORT = Duration.ofMillis(300);

  /** For waits that must end in vain after something that a busy machine takes a while for. */
  static final Duration MEDIUM = Duration.ofSeconds(3);

  private Parties() {}

  static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  static Options secret() {
    return Options.secret(SECRET).timeout(PATIENCE);
  }

  static Rendezvous listen() {
    return Rendezvous.listen(anyPort(), secret());
  }

  static Settings settings(Duration timeout) {
    return new Settings(SECRET, false, timeout);
  }

  /** Runs the other side. */
  static <T> CompletableFuture<T> async(Callable<T> side) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                result.complete(side.call());
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            });
    return result;
  }

  static <T> T get(CompletableFuture<T> side) {
    try {
      return side.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError("the other side failed", e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      return fail(e);
    }
  }

  /** The exception that the other side must end with. */
  static RdmaException failure(CompletableFuture<?> side) {
    try {
      return fail("the other side succeeded: " + side.get(60, TimeUnit.SECONDS));
    } catch (ExecutionException e) {
      return assertInstanceOf(RdmaException.class, e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      return fail(e);
    }
  }
}
