// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.concurrent.ThreadLocalRandom;
import org.gpuverbs.internal.events.QueuePairConnected;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.softnic.SoftRemote;

/** A queue pair's connection to its peer: connect, reset and the end, one at a time. */
final class QueuePairConnection {
  private static final int PACKET_SEQUENCES = 1 << 24;

  private final QueuePair qp;
  private volatile int packetSequence = freshSequence();

  /** Counts resets: a ticket means a request only together with it. */
  private volatile int generation;

  /** Completions before these positions of the CQs belong to the time before the last reset. */
  private volatile long staleSends;

  private volatile long staleReceives;

  QueuePairConnection(QueuePair qp) {
    this.qp = qp;
  }

  private static int freshSequence() {
    return ThreadLocalRandom.current().nextInt(PACKET_SEQUENCES);
  }

  int generation() {
    return generation;
  }

  boolean isStaleSend(long index) {
    return index < staleSends;
  }

  boolean isStaleReceive(long index) {
    return index < staleReceives;
  }

  QueuePairAddress address() {
    return new QueuePairAddress(
        qp.path(), qp.nic().guid(), qp.number(), packetSequence, 0, 0, 0, 0);
  }

  void connect(QueuePairAddress peer) {
    if (peer.path() != qp.path()) {
      throw new IllegalArgumentException(
          qp
              + " has path "
              + qp.path()
              + ", the peer "
              + peer.path()
              + ": both ends need the same");
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
        qp.soft()
            .connect(
                new SoftRemote(peer.guid(), peer.number(), peer.packetSequence(), packetSequence));
        qp.queue().ready(qp.number());
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

  private void requireReachable(QueuePairAddress peer) {
    if (!Nic.reachesSoft(peer.guid())) {
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
      qp.queue().mark(SendQueue.STATE_ERROR);
      if (!qp.users().awaitUnused(Deadline.after(qp.closeTimeout()))) {
        throw RdmaException.of("reset of " + qp + ": it is still in use", Status.TIMEOUT);
      }
      qp.soft().reset();
      qp.queue().reset();
      GpuQueue gpu = qp.gpuQueue();
      if (gpu != null) {
        gpu.reset();
      }
      forgetCompletions();
      qp.errors().clear();
      generation++;
      packetSequence = freshSequence();
    } finally {
      qp.gate().resume();
    }
  }

  private void forgetCompletions() {
    CompletionQueue sends = qp.options().sendQueue();
    if (sends != null) {
      staleSends = sends.end();
    }
    CompletionQueue completed = qp.options().receiveQueue();
    ReceiveQueue receives = qp.receives();
    if (receives != null && completed != null) {
      staleReceives = completed.end();
      receives.reset();
    }
  }

  /** The gate is closed. A reset that is under way still uses the memory, so it is waited for. */
  synchronized void release() {
    qp.users().release(Deadline.after(qp.closeTimeout()));
  }
}
