// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.gpuverbs.Rendezvous;
import org.jspecify.annotations.Nullable;

/** The connecting side. Keeps trying while nobody listens: processes start in any order. */
public final class Connector {
  private static final long FIRST_PAUSE_MILLIS = 10;
  private static final long LAST_PAUSE_MILLIS = 500;

  private Connector() {}

  public static Rendezvous.Peer peer(InetSocketAddress address, Settings settings) {
    settings.check(address);
    Hello hello = Hello.pair(settings.hasSecret(), 1);
    return new PairPeer(connect(address, hello, settings, settings.deadline()), settings);
  }

  public static Rendezvous.Group member(
      InetSocketAddress address, int rank, int size, Settings settings) {
    settings.check(address);
    Hello hello = Hello.group(settings.hasSecret(), rank, size);
    Deadline deadline = settings.deadline();
    Frames frames = connect(address, hello, settings, deadline);
    try {
      frames.receive(Frames.READY, deadline);
      return new MemberGroup(frames, rank, size, settings);
    } catch (SocketTimeoutException e) {
      frames.close();
      throw Failures.incomplete(address, deadline);
    } catch (IOException e) {
      frames.close();
      throw Failures.rootGone(address, e);
    }
  }

  private static Frames connect(
      InetSocketAddress address, Hello hello, Settings settings, Deadline deadline) {
    IOException last = null;
    long pause = FIRST_PAUSE_MILLIS;
    while (!deadline.expired()) {
      Wire wire = null;
      try {
        wire = dial(address, deadline);
        if (wire != null) {
          return Handshake.connect(wire, hello, settings, deadline);
        }
      } catch (StrangerException | RefusedException e) {
        close(wire);
        throw Failures.handshake(address, e);
      } catch (IOException e) {
        // Refused, reset or closed before the other side said who it is: it may be just about to
        // listen.
        close(wire);
        last = e;
      }
      try {
        Thread.sleep(Math.min(pause, Math.max(0, deadline.remainingNanos() / 1_000_000)));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw Failures.interrupted(address);
      }
      pause = Math.min(2 * pause, LAST_PAUSE_MILLIS);
    }
    throw Failures.unanswered(address, deadline, last);
  }

  /**
   * A connection, or null if it reached this very socket: Linux joins a loopback port to itself now
   * and then.
   */
  private static @Nullable Wire dial(InetSocketAddress address, Deadline deadline)
      throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(address, deadline.remainingMillis());
      if (!socket.getLocalSocketAddress().equals(socket.getRemoteSocketAddress())) {
        return new Wire(socket);
      }
    } catch (IOException e) {
      socket.close();
      throw e;
    }
    socket.close();
    return null;
  }

  private static void close(@Nullable Wire wire) {
    if (wire != null) {
      wire.close();
    }
  }
}
