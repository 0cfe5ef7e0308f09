// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Accepts connections and shakes hands with each on a thread of its own, so that one who is silent,
 * slow or hostile delays nobody else. Those who fail are dropped, counted and logged.
 */
final class Doorman {
  /**
   * From accept to the proof. A real peer needs a few round trips; one byte at a time does not
   * stretch it.
   */
  static final Duration HANDSHAKE = Duration.ofSeconds(5);

  /**
   * Handshakes at once. One more ends the oldest, so that idle connections can't keep the real peer
   * out.
   */
  static final int MAX_HANDSHAKES = 128;

  private final ServerSocket socket;
  private final Lobby lobby;
  private final Settings settings;
  private final ReentrantLock lock;
  private final Condition changed;
  private final LinkedHashSet<Wire> shaking = new LinkedHashSet<>();
  private final Refusals refusals = new Refusals();
  private boolean closed;

  private Doorman(
      ServerSocket socket, Lobby lobby, Settings settings, ReentrantLock lock, Condition changed) {
    this.socket = socket;
    this.lobby = lobby;
    this.settings = settings;
    this.lock = lock;
    this.changed = changed;
  }

  /**
   * Runs until the socket is closed. `lock` guards the lobby; `changed` is signalled when somebody
   * entered.
   */
  static Doorman start(
      ServerSocket socket, Lobby lobby, Settings settings, ReentrantLock lock, Condition changed) {
    Doorman doorman = new Doorman(socket, lobby, settings, lock, changed);
    Thread.ofVirtual().name("gpuverbs-rendezvous").start(doorman::run);
    return doorman;
  }

  Refusals refusals() {
    return refusals;
  }

  private void run() {
    while (true) {
      Socket accepted;
      try {
        accepted = socket.accept();
      } catch (IOException e) {
        if (socket.isClosed()) {
          return;
        }
        // Out of descriptors, or the connection was reset before it was accepted: the next may do
        // better.
        refusals.add("somebody", e.toString());
        pause();
        continue;
      }
      admit(accepted);
    }
  }

  private void admit(Socket accepted) {
    Wire wire;
    try {
      wire = new Wire(accepted);
    } catch (IOException e) {
      refusals.add("somebody", e.toString());
      closeQuietly(accepted);
      return;
    }
    lock.lock();
    try {
      if (closed) {
        wire.close();
        return;
      }
      if (shaking.size() >= MAX_HANDSHAKES) {
        shaking.removeFirst().close();
      }
      shaking.add(wire);
    } finally {
      lock.unlock();
    }
    Thread.ofVirtual().name("gpuverbs-rendezvous-handshake").start(() -> shake(wire));
  }

  private void shake(Wire wire) {
    boolean entered = false;
    try {
      entered = handshake(wire);
    } catch (SocketTimeoutException e) {
      refusals.add(wire.remote().toString(), "no proof within " + HANDSHAKE.toSeconds() + " s");
    } catch (SocketException e) {
      refusals.add(wire.remote().toString(), "its connection broke");
    } catch (IOException e) {
      refusals.add(wire.remote().toString(), String.valueOf(e.getMessage()));
    } finally {
      lock.lock();
      try {
        shaking.remove(wire);
      } finally {
        lock.unlock();
      }
      if (!entered) {
        wire.close();
      }
    }
  }

  private boolean handshake(Wire wire) throws IOException {
    Hello[] reserved = new Hello[1];
    boolean entered = false;
    try {
      Handshake.Admitted admitted =
          Handshake.listen(
              wire,
              lobby.hello(settings.hasSecret()),
              settings,
              Deadline.after(HANDSHAKE),
              theirs -> {
                Verdict verdict = locked(() -> closed ? Verdict.FULL : lobby.reserve(theirs));
                if (verdict == Verdict.WELCOME) {
                  reserved[0] = theirs;
                }
                return verdict;
              });
      lock.lock();
      try {
        if (!closed) {
          // In the same step: whoever takes the peer may close this doorman at once.
          shaking.remove(wire);
          lobby.enter(admitted.theirs(), admitted.frames());
          entered = true;
          changed.signalAll();
        }
      } finally {
        lock.unlock();
      }
      return entered;
    } finally {
      if (!entered && reserved[0] != null) {
        locked(
            () -> {
              lobby.release(reserved[0]);
              return Verdict.WELCOME;
            });
      }
    }
  }

  private Verdict locked(Supplier<Verdict> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the handshakes in progress. The socket is the listener's to close. */
  void close() {
    lock.lock();
    try {
      closed = true;
      shaking.forEach(Wire::close);
    } finally {
      lock.unlock();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It was never used.
    }
  }
}
