// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.concurrent.ThreadLocalRandom;
import org.gpuverbs.internal.events.QueuePairConnected;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.SendQueue;
import org.jspecify.annotations.Nullable;

/** A queue pair's connection to its peer: connect, reset and the end, one at a time. */
final class QueuePairConnection {
  private static final int PACKET_SEQUENCES = 1 << 24;

  private final QueuePair qp;
  private volatile int packetSequence = freshSequence();

  /** Counts resets: a ticket means a request only together with it. */
  private volatile int generation;

  QueuePairConnection(QueuePair qp) {
    this.qp = qp;
  }

  private static int freshSequence() {
    return ThreadLocalRandom.current().nextInt(PACKET_SEQUENCES);
  }

  int generation() {
    return generation;
  }

  QueuePairAddress address() {
    return qp.nic().device().address(qp.path(), qp.number(), packetSequence);
  }

  void connect(QueuePairAddress peer) {
    if (soft(peer.path()) != soft(qp.path())) {
      throw new IllegalArgumentException(
          qp
              + " has path "
              + qp.path()
              + ", the peer "
              + peer.path()
              + ": SOFT does not reach a real NIC; DIRECT and PROXY reach each other");
    }
    synchronized (this) {
      qp.requireOpen();
      QueuePairState now = qp.state();
      if (now != QueuePairState.RESET) {
        throw new IllegalStateException(
            qp + " is " + now + ": a queue pair connects once; reset() it first");
      }
      requireReachable(peer);
      qp.enter();
      try {
        qp.served().connect(peer, packetSequence);
        qp.queue().ready(qp.number());
        if (qp.served().failed()) {
          // Between the two: what broke it found the queue not ready, and so could not say so.
          qp.queue().mark(SendQueue.STATE_ERROR);
        }
      } finally {
        qp.gate().exit();
      }
    }
    QueuePairConnected event = new QueuePairConnected();
    event.number = qp.number();
    event.peer = peer.number();
    event.path = qp.path().name();
    event.commit();
  }

  /** DIRECT and PROXY are the same on the wire, reliable connections between verbs devices. */
  private static boolean soft(Path path) {
    return path == Path.SOFT;
  }

  private void requireReachable(QueuePairAddress peer) {
    if (qp.path() == Path.SOFT && !Nic.reachesSoft(peer.guid())) {
      throw new RdmaException(
          qp + " can't reach NIC " + Long.toHexString(peer.guid()),
          0,
          QueuePairErrors.EHOSTUNREACH,
          0,
          "path SOFT connects queue pairs of one JVM whose NICs are open",
          null);
    }
  }

  synchronized void reset() {
    if (!qp.gate().pause()) {
      throw new IllegalStateException(qp + " is closed");
    }
    try {
      long deadline = Deadline.after(qp.closeTimeout());
      qp.queue().mark(SendQueue.STATE_ERROR);
      if (!qp.users().awaitUnused(deadline)) {
        throw RdmaException.of("reset of " + qp + ": it is still in use", Status.TIMEOUT);
      }
      qp.served().reset();
      forgetCompletions(deadline);
      qp.queue().reset();
      GpuQueue gpu = qp.gpuQueue();
      if (gpu != null) {
        gpu.reset();
      }
      qp.errors().clear();
      generation++;
      packetSequence = freshSequence();
    } finally {
      qp.gate().resume();
    }
  }

  /** With the NIC deaf. What it has completed before means nothing afterwards. */
  private void forgetCompletions(long deadline) {
    forget(qp.options().sendQueue(), deadline);
    forget(qp.options().receiveQueue(), deadline);
    ReceiveQueue receives = qp.receives();
    if (receives != null) {
      receives.reset();
    }
  }

  private void forget(@Nullable CompletionQueue queue, long deadline) {
    if (queue != null && !queue.drop(qp.number(), deadline)) {
      throw RdmaException.of("reset of " + qp + ": " + queue + " is being polled", Status.TIMEOUT);
    }
  }

  /** The gate is closed. A reset that is under way still uses the memory, so it is waited for. */
  synchronized void release() {
    qp.users().release(Deadline.after(qp.closeTimeout()));
  }
}
