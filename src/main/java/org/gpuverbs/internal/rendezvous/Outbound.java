// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A write on a thread of its own. A blocking write has no timeout, and two sides that both write
 * before they read could wait for each other for ever; this one is waited for with a deadline, and
 * closing its wire ends it.
 */
final class Outbound {
  private final CompletableFuture<Void> done = new CompletableFuture<>();

  interface Write {
    void run() throws IOException;
  }

  static Outbound start(Write write) {
    Outbound outbound = new Outbound();
    Thread.ofVirtual()
        .name("gpuverbs-rendezvous-write")
        .start(
            () -> {
              try {
                write.run();
                outbound.done.complete(null);
              } catch (IOException | RuntimeException e) {
                outbound.done.completeExceptionally(e);
              }
            });
    return outbound;
  }

  void await(Deadline deadline) throws IOException, InterruptedException {
    try {
      done.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new SocketTimeoutException("the other side does not read");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw new IOException(e.getCause());
    }
  }
}
