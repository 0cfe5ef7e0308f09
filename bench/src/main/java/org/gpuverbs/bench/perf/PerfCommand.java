// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.gpuverbs.FenceMode;
import org.gpuverbs.GpuVerbs;
import org.gpuverbs.HandOver;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Rendezvous;
import org.gpuverbs.bench.Policies;
import org.gpuverbs.bench.Quiet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command line of perf. */
@Command(
    name = "perf",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Bandwidth and latency between queue pairs, in perftest's words and columns.",
      "",
      "Without HOST and --server both sides run in this process (loopback). The software NIC (path"
          + " SOFT) connects queue pairs of one process only, so there it is the one way.",
      ""
    },
    footer = {
      "",
      "Latency of WRITE and SEND is half of the round trip; of READ and atomics the time until the"
          + " completion. BW peak is the best window of a millisecond or more.",
      "Exit status: 0 done (and verified), 1 failed, 2 wrong usage."
    })
public final class PerfCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "TEST",
      description =
          "One of: write_bw write_lat read_bw read_lat send_bw send_lat atomic_bw atomic_lat")
  private PerfTest test;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "HOST",
      description = "Client: where perf --server runs, HOST or HOST:PORT.")
  private String host;

  @Option(names = "--server", description = "Server: serves one client, then ends.")
  private boolean server;

  @Option(
      names = {"-p", "--port"},
      defaultValue = "18515",
      description = "Server's TCP port (${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--secret-file",
      paramLabel = "FILE",
      description =
          "Both sides: 16 bytes or more that they share. Without it loopback addresses only.")
  private Path secret;

  @Option(
      names = {"-d", "--ib-dev"},
      paramLabel = "NIC",
      description =
          "By its name in the library's info command (the software NIC; between processes the first"
              + " with path DIRECT or PROXY).")
  private String nic;

  @Option(
      names = {"-s", "--size"},
      converter = Sizes.class,
      description = "Bytes a message, such as 64, 4K or 8M (64 KiB; latency 8).")
  private Integer size;

  @Option(
      names = {"-a", "--all"},
      description = "All sizes from 2 B to 8 MiB.")
  private boolean all;

  @Option(
      names = {"-n", "--iters"},
      description = "Messages a queue pair (5000; latency 1000).")
  private Long iterations;

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "SECONDS",
      defaultValue = "0",
      description = "Run each size so long instead.")
  private double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      defaultValue = "1",
      description = "Before the first size; a tenth before the others (${DEFAULT-VALUE}).")
  private double warmUp;

  @Option(
      names = {"-q", "--qp"},
      paramLabel = "COUNT",
      defaultValue = "1",
      description = "Queue pairs (${DEFAULT-VALUE}).")
  private int queuePairs;

  @Option(
      names = {"-t", "--tx-depth"},
      defaultValue = "1024",
      description = "Send queue depth in basic blocks, a power of two (${DEFAULT-VALUE}).")
  private int depth;

  @Option(
      names = {"-l", "--post_list"},
      paramLabel = "COUNT",
      description = "Messages a submit (16; latency 1).")
  private Integer batch;

  @Option(
      names = "--initiator",
      defaultValue = "cpu",
      description = "Who runs the submit path: cpu or gpu (${DEFAULT-VALUE}).")
  private String initiator;

  @Option(
      names = "--gpu",
      paramLabel = "ORDINAL",
      defaultValue = "0",
      description = "With --initiator gpu: which (${DEFAULT-VALUE}).")
  private int gpu;

  @Option(
      names = "--lanes",
      defaultValue = "0",
      description = "CPU lane threads; 0 is the caller's own thread (${DEFAULT-VALUE}).")
  private int lanes;

  @Option(
      names = "--policy",
      defaultValue = "TURN",
      description = "CLASSIC, TURN, TURN_LOAD_STORE, BITMAP or EXCLUSIVE (${DEFAULT-VALUE}).")
  private HandOver policy;

  @Option(
      names = "--doorbell-every",
      paramLabel = "COUNT",
      defaultValue = "1",
      description = "Requests, a power of two (${DEFAULT-VALUE}: each reservation).")
  private int doorbellEvery;

  @Option(
      names = "--validate",
      description =
          "Compare the payloads at the end of each size. Atomics' sums are always checked.")
  private boolean validate;

  @Option(
      names = {"-H", "--report-histogram"},
      description = "Print the distribution of the last size's latencies.")
  private boolean histogram;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results there too.")
  private Path json;

  @Option(names = "--quiet", description = "No progress bar.")
  private boolean quiet;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  private boolean help;

  @Override
  public Integer call() throws IOException {
    Quiet.logs();
    PrintStream out = System.out;
    try {
      PerfOptions options = options();
      GpuVerbs.ensureAvailable();
      if (server) {
        serve(out, new NicChoice(nic, true));
      } else {
        new PerfRun(options, warmUp, out)
            .run(channelOptions(), address(), new NicChoice(nic, host != null));
      }
      return 0;
    } catch (PerfException | RdmaException | IllegalArgumentException e) {
      System.err.println("perf " + test.text() + ": " + e.getMessage());
      return 1;
    }
  }

  private PerfOptions options() {
    if (server && host != null) {
      throw wrong("--server and HOST: give one of them");
    }
    if (size != null && all) {
      throw wrong("-s and -a: give one of them");
    }
    if (iterations != null && seconds > 0) {
      throw wrong("-n and -D: give one of them");
    }
    if (!(warmUp >= 0 && warmUp <= 60)) {
      throw wrong("--warm-up " + warmUp + ": take 0 to 60 seconds");
    }
    if (gpu < 0) {
      throw wrong("--gpu " + gpu + ": take 0 or more");
    }
    switch (initiator) {
      case "cpu", "gpu" -> {}
      default -> throw wrong("--initiator " + initiator + ": take cpu or gpu");
    }
    int usual = test.atomic() || test.latency() ? Long.BYTES : 1 << 16;
    List<Integer> sizes = all ? Sizes.all() : List.of(size == null ? usual : size);
    try {
      return new PerfOptions(
          test,
          sizes,
          iterations == null ? (test.latency() ? 1000 : 5000) : iterations,
          seconds,
          queuePairs,
          depth,
          batch == null ? (test.latency() ? 1 : Math.min(16, depth)) : batch,
          Policies.of(policy.name(), FenceMode.SYSTEM.name(), doorbellEvery),
          lanes,
          initiator.equals("gpu") ? gpu : -1,
          validate,
          histogram,
          json,
          quiet);
    } catch (PerfException | IllegalArgumentException e) {
      throw wrong(e.getMessage());
    }
  }

  private ParameterException wrong(String what) {
    return new ParameterException(spec.commandLine(), what);
  }

  private Rendezvous.Options channelOptions() throws IOException {
    if (secret == null) {
      return Rendezvous.Options.loopback().timeout(Channel.PATIENCE);
    }
    try {
      byte[] bytes = Files.readAllBytes(secret);
      return Rendezvous.Options.secret(bytes).timeout(Channel.PATIENCE);
    } catch (NoSuchFileException e) {
      throw wrong("--secret-file " + secret + ": there is no such file");
    }
  }

  private InetSocketAddress address() {
    if (host == null) {
      return null;
    }
    int colon = host.lastIndexOf(':');
    String name = colon > 0 ? host.substring(0, colon) : host;
    int where = port;
    if (colon > 0) {
      String digits = host.substring(colon + 1);
      if (!digits.matches("\\d{1,5}")) {
        throw wrong("HOST " + host + ": take HOST or HOST:PORT");
      }
      where = Integer.parseInt(digits);
    }
    return socket(name, where);
  }

  private InetSocketAddress socket(String name, int where) {
    if (where < 1 || where > 65535) {
      throw wrong("port " + where + ": take 1..65535");
    }
    InetSocketAddress address = new InetSocketAddress(name, where);
    if (address.isUnresolved()) {
      throw wrong("HOST " + name + " is unknown");
    }
    return address;
  }

  private void serve(PrintStream out, NicChoice choice) throws IOException {
    InetSocketAddress local = secret == null ? socket("127.0.0.1", port) : socket("0.0.0.0", port);
    out.println("perf: waiting for a client on " + local);
    Duration wait = Duration.ofHours(1);
    try (Rendezvous.Peer peer = Rendezvous.accept(local, channelOptions().timeout(wait))) {
      Server.serve(Channel.of(peer), choice);
    }
    out.println("perf: done");
  }
}
