// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.gpuverbs.Rendezvous;
import org.gpuverbs.bench.Machine;

/** One invocation as client, with what it prints and writes. One thread. */
final class PerfRun {
  private static final long END_SECONDS = 30;

  private final PerfOptions options;
  private final double warmUp;
  private final PrintStream out;

  PerfRun(PerfOptions options, double warmUp, PrintStream out) {
    this.options = options;
    this.warmUp = warmUp;
    this.out = out;
  }

  /** Loopback if {@code server} is null. */
  void run(Rendezvous.Options rendezvous, InetSocketAddress server, NicChoice choice)
      throws IOException {
    Machine machine = Machine.here();
    boolean terminal = System.console() != null && System.console().isTerminal();
    Bar bar = new Bar(System.err, terminal && !options.quiet());
    Client client = new Client(options, warmUp, bar, row -> out.println(Columns.line(row)));
    out.println(title(server));
    out.println(Columns.header(options.test()));
    if (server == null) {
      loopback(client, choice);
    } else {
      try (Rendezvous.Peer peer = Rendezvous.connect(server, rendezvous)) {
        client.run(Channel.of(peer), choice);
      }
    }
    if (options.histogram()) {
      out.println("# distribution of the last size, microseconds of a whole round trip");
      client.histogram().outputPercentileDistribution(out, 1, 1000.0);
    }
    if (options.json() != null) {
      PerfResult.of(options, machine, client.path().name(), server, client.rows())
          .write(options.json());
    }
  }

  private String title(InetSocketAddress server) {
    return "# "
        + options.test().text()
        + (server == null ? ", loopback" : ", client of " + server)
        + ", "
        + options.queuePairs()
        + " QPs, depth "
        + options.depth()
        + ", "
        + options.batch()
        + " a submit, policy "
        + options.policy()
        + ", "
        + (options.gpu() >= 0
            ? "GPU " + options.gpu()
            : options.lanes() == 0 ? "the caller's thread" : options.lanes() + " lane threads");
  }

  private static void loopback(Client client, NicChoice choice) {
    Channel[] ends = Channel.pair();
    Thread me = Thread.currentThread();
    CompletableFuture<Void> server = new CompletableFuture<>();
    Thread.ofPlatform()
        .name("perf-loopback")
        .daemon()
        .start(
            () -> {
              try {
                Server.serve(ends[1], choice);
                server.complete(null);
              } catch (RuntimeException | Error e) {
                server.completeExceptionally(e);
                me.interrupt();
              }
            });
    try {
      client.run(ends[0], choice);
    } catch (PerfException e) {
      // The server's own problem says more than that it fell silent.
      if (server.isCompletedExceptionally() && Thread.interrupted()) {
        throw new PerfException(Words.of(server.exceptionNow()), e);
      }
      throw e;
    }
    try {
      server.get(END_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new PerfException(Words.of(e.getCause()), e);
    } catch (TimeoutException e) {
      throw new PerfException("the loopback's server does not end", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PerfException("interrupted", e);
    }
  }
}
