// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Status;
import org.jspecify.annotations.Nullable;

/**
 * Every exception that a rendezvous throws for what is not the caller's mistake. The errno tells
 * kinds apart for programs.
 */
final class Failures {
  private static final int EINTR = 4;
  private static final int EACCES = 13;
  private static final int EPROTO = 71;
  private static final int EPROTONOSUPPORT = 93;
  private static final int EADDRINUSE = 98;
  private static final int ECONNRESET = 104;
  private static final int ETIMEDOUT = 110;
  private static final int ECONNREFUSED = 111;

  private Failures() {}

  static RdmaException listen(InetSocketAddress address, IOException cause) {
    return failure(
        "can't listen on %s (%s)".formatted(address, cause.getMessage()),
        EADDRINUSE,
        "use an address of this machine and a free port, or port 0",
        cause);
  }

  static RdmaException nobody(
      String what, InetSocketAddress address, Deadline deadline, @Nullable Refusals refusals) {
    return timeout(
        "%s within %s on %s%s"
            .formatted(what, deadline.text(), address, refusals == null ? "" : refusals.text()),
        "check that the other side runs and connects here, or raise the timeout",
        null);
  }

  static RdmaException unanswered(
      InetSocketAddress address, Deadline deadline, @Nullable IOException last) {
    return timeout(
        "no rendezvous answered at %s within %s%s"
            .formatted(
                address, deadline.text(), last == null ? "" : " (" + last.getMessage() + ")"),
        "check that the other side listens there and that no firewall is between, or raise the timeout",
        last);
  }

  static RdmaException incomplete(InetSocketAddress address, Deadline deadline) {
    return timeout(
        "the group at %s was not complete within %s".formatted(address, deadline.text()),
        "rank 0's message names the missing ranks",
        null);
  }

  static RdmaException rootGone(InetSocketAddress address, IOException cause) {
    return failure(
        "rank 0 at %s gave the group up before it was complete".formatted(address),
        ECONNRESET,
        "its message says why",
        cause);
  }

  /** The other side is a stranger, another version, or does not want this one. */
  static RdmaException handshake(InetSocketAddress address, IOException cause) {
    String what = "rendezvous with %s failed: %s".formatted(address, cause.getMessage());
    return switch (cause) {
      case VersionException e ->
          failure(what, EPROTONOSUPPORT, "use the same version of gpuverbs on both sides", e);
      case SecretException e -> failure(what, EACCES, "give both sides the same secret", e);
      case RefusedException e -> failure(what, ECONNREFUSED, "", e);
      default ->
          failure(what, EPROTO, "check host and port: this is no gpuverbs rendezvous", cause);
    };
  }

  static RdmaException exchange(String who, Deadline deadline, boolean byUs, IOException cause) {
    if (byUs) {
      return new RdmaException(
          "the exchange with %s was ended by close()".formatted(who),
          Status.CLOSED,
          0,
          0,
          "",
          cause);
    }
    if (Thread.currentThread().isInterrupted()) {
      // Interrupting a virtual thread closes the socket that it waits for.
      return interrupted(who);
    }
    return switch (cause) {
      case SocketTimeoutException e ->
          timeout(
              "%s did not exchange within %s".formatted(who, deadline.text()),
              "both sides must call exchange equally often; see what holds the other one up, or raise the timeout",
              e);
      case StrangerException e ->
          failure(
              "%s broke the protocol: %s".formatted(who, e.getMessage()),
              EPROTO,
              "the network changes data or somebody interferes; connect again",
              e);
      case EOFException e -> gone(who, e);
      case RefusedException e ->
          failure(
              "%s gave up: %s".formatted(who, e.getMessage()),
              ECONNRESET,
              "form the group again",
              e);
      default -> gone(who, cause);
    };
  }

  private static RdmaException gone(String who, IOException cause) {
    return failure(
        "%s closed the connection before it exchanged".formatted(who),
        ECONNRESET,
        "see the other side's log, then connect again",
        cause);
  }

  static RdmaException interrupted(Object where) {
    return failure("interrupted during the rendezvous with " + where, EINTR, "", null);
  }

  static RdmaException closedWhileWaiting(InetSocketAddress address) {
    return new RdmaException(
        "the rendezvous on %s was closed while waiting".formatted(address),
        Status.CLOSED,
        0,
        0,
        "",
        null);
  }

  private static RdmaException timeout(String what, String hint, @Nullable Throwable cause) {
    return new RdmaException(what, Status.TIMEOUT, ETIMEDOUT, 0, hint, cause);
  }

  private static RdmaException failure(
      String what, int errno, String hint, @Nullable Throwable cause) {
    return new RdmaException(what, 0, errno, 0, hint, cause);
  }
}
