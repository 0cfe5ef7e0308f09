// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.gpuverbs.Rendezvous;
import org.jspecify.annotations.Nullable;

/**
 * The listening side. Nothing is read from a connection until the first call says whether peers or
 * a group is wanted; from then on a {@link Doorman} shakes hands in the background, and callers
 * wait here for what it lets in.
 */
public final class RendezvousListener implements AutoCloseable {
  private static final int BACKLOG = 256;

  private final Settings settings;
  private final ServerSocket socket;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private @Nullable Doorman doorman;
  private @Nullable Lobby lobby;
  private boolean closed;

  public RendezvousListener(InetSocketAddress address, Settings settings) {
    settings.check(address);
    this.settings = settings;
    try {
      socket = new ServerSocket();
      socket.setReuseAddress(true);
      socket.bind(address, BACKLOG);
    } catch (IOException e) {
      throw Failures.listen(address, e);
    }
  }

  public InetSocketAddress address() {
    return (InetSocketAddress) socket.getLocalSocketAddress();
  }

  public Rendezvous.Peer accept() {
    return acceptPeer(false);
  }

  /** As {@link #accept}, and whoever comes second is told so. */
  public Rendezvous.Peer acceptOnly() {
    return acceptPeer(true);
  }

  private Rendezvous.Peer acceptPeer(boolean only) {
    Deadline deadline = settings.deadline();
    lock.lock();
    try {
      Lobby.Pairs pairs =
          open(new Lobby.Pairs(only ? 1 : Integer.MAX_VALUE), Lobby.Pairs.class, false);
      while (true) {
        Frames frames = pairs.next();
        if (frames != null) {
          return new PairPeer(frames, settings);
        }
        await(deadline, "no peer came");
      }
    } finally {
      lock.unlock();
    }
  }

  public Rendezvous.Group group(int size) {
    Hello.checkRank(0, size);
    Deadline deadline = settings.deadline();
    Lobby.Ranks ranks;
    lock.lock();
    try {
      ranks = open(new Lobby.Ranks(size), Lobby.Ranks.class, true);
      try {
        while (!ranks.complete()) {
          await(deadline, "the group is not complete: missing " + ranks.missing());
        }
      } catch (RuntimeException e) {
        ranks.close();
        throw e;
      }
    } finally {
      lock.unlock();
    }
    return RootGroup.start(ranks.members(), settings, deadline);
  }

  /** Starts the doorman for the first call; later ones must want the same. */
  private <T extends Lobby> T open(T wanted, Class<T> type, boolean once) {
    if (closed) {
      throw new IllegalStateException("this rendezvous is closed");
    }
    if (lobby == null) {
      lobby = wanted;
      doorman = Doorman.start(socket, wanted, settings, lock, changed);
      return wanted;
    }
    if (once || !type.isInstance(lobby)) {
      throw new IllegalStateException(
          "this rendezvous already accepts %s: listen on another port".formatted(lobby.what()));
    }
    return type.cast(lobby);
  }

  private void await(Deadline deadline, String what) {
    if (closed) {
      throw Failures.closedWhileWaiting(address());
    }
    if (deadline.expired()) {
      throw Failures.nobody(what, address(), deadline, doorman == null ? null : doorman.refusals());
    }
    try {
      changed.await(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failures.interrupted(address());
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      socket.close();
      if (doorman != null) {
        doorman.close();
      }
      if (lobby != null) {
        lobby.close();
      }
      changed.signalAll();
    } catch (IOException e) {
      // The descriptor is gone either way, and there is nobody to tell.
    } finally {
      lock.unlock();
    }
  }
}
