// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.gpuverbs.Availability;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Rendezvous;
import org.jspecify.annotations.Nullable;

/**
 * Where the demo's two processes meet, and on which NIC.
 *
 * @param listen the address to listen on, or null
 * @param connect the address to connect to, or null
 * @param nic a NIC's name, or null
 * @param path the path to take, or null for the best
 * @param secretFile a file with the shared secret, or null
 */
record Meeting(
    @Nullable InetSocketAddress listen,
    @Nullable InetSocketAddress connect,
    @Nullable String nic,
    @Nullable Path path,
    @Nullable String secretFile) {
  /** Of one exchange: the near end moves a whole window by one row between two. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  static Meeting parse(Arguments arguments) throws UsageException {
    String listen = arguments.value("--listen");
    String connect = arguments.value("--connect");
    if (listen != null && connect != null) {
      throw new UsageException("use --listen or --connect, not both");
    }
    return new Meeting(
        listen == null ? null : address("--listen", listen),
        connect == null ? null : address("--connect", connect),
        arguments.value("--nic"),
        DoctorCommand.path(arguments.value("--path")),
        arguments.value("--secret-file"));
  }

  /** HOST:PORT, or PORT alone for this machine. */
  private static InetSocketAddress address(String option, String text) throws UsageException {
    int colon = text.lastIndexOf(':');
    String host = colon < 0 ? "127.0.0.1" : text.substring(0, colon);
    int port = Arguments.number(option, text.substring(colon + 1), 1, 65535);
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      throw new UsageException("%s %s: unknown host %s".formatted(option, text, host));
    }
  }

  /** The NIC that is named, else the first that offers what is needed. */
  Nic open() {
    List<NicInfo> nics = Nic.list();
    for (NicInfo each : nics) {
      if (nic != null ? each.name().equals(nic) : fits(each)) {
        return Nic.open(path == null ? each : only(path, each));
      }
    }
    throw new RdmaException(
        nic == null ? "no NIC offers " + wanted() : "there is no NIC " + nic,
        0,
        0,
        0,
        nic == null
            ? nics.getLast().path(path == null ? Path.PROXY : path).fix()
            : "there are " + String.join(", ", nics.stream().map(NicInfo::name).toList()),
        null);
  }

  private boolean fits(NicInfo each) {
    if (path != null) {
      return each.path(path).available();
    }
    boolean apart = listen != null || connect != null;
    return !apart || each.path(Path.DIRECT).available() || each.path(Path.PROXY).available();
  }

  private String wanted() {
    return "path " + (path == null ? "DIRECT or PROXY" : path);
  }

  /** As if the NIC had that path alone. */
  private static NicInfo only(Path path, NicInfo nic) {
    Map<Path, Availability> paths = new EnumMap<>(Path.class);
    for (Path each : Path.values()) {
      paths.put(
          each,
          each == path || !nic.path(each).available()
              ? nic.path(each)
              : Availability.no("--path " + path + " was asked for", "leave --path out"));
    }
    if (!paths.get(path).available()) {
      Availability why = nic.path(path);
      throw new RdmaException(
          nic.name() + " has no path " + path + ": " + why.reason(), 0, 0, 0, why.fix(), null);
    }
    return new NicInfo(nic.name(), paths);
  }

  private Rendezvous.Options options(InetSocketAddress address) throws IOException, UsageException {
    Rendezvous.Options options;
    if (secretFile != null) {
      options = Rendezvous.Options.secret(Files.readAllBytes(java.nio.file.Path.of(secretFile)));
    } else if (address.getAddress().isLoopbackAddress()) {
      options = Rendezvous.Options.loopback();
    } else {
      throw new UsageException(
          "other machines need --secret-file, a file of 16 random bytes or more, the same on both");
    }
    return options.timeout(PATIENCE);
  }

  /** Connects to the process that listens, which makes windows of that size. */
  RemoteFarEnd farEnd(InetSocketAddress address, long window) throws IOException, UsageException {
    return new RemoteFarEnd(Rendezvous.connect(address, options(address)), window);
  }

  /** Serves one process that connects. */
  void serve(InetSocketAddress address, PrintStream out) throws IOException, UsageException {
    try (Nic opened = open();
        Rendezvous.Peer peer = announce(opened, address, out)) {
      FarServer.serve(opened, peer);
    }
    out.println("the other side has ended");
  }

  private Rendezvous.Peer announce(Nic opened, InetSocketAddress address, PrintStream out)
      throws IOException, UsageException {
    Rendezvous.Options options = options(address);
    out.printf("far end on %s, waiting at %s%n", opened.info().name(), address);
    return Rendezvous.accept(address, options);
  }
}
