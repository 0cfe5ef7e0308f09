// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import org.gpuverbs.internal.events.QueuePairFailed;
import org.gpuverbs.internal.queue.SendQueue;

/** Reports a queue pair's way to ERROR once. */
final class QueuePairErrors {
  /** errno of Linux: no route to host. */
  static final int EHOSTUNREACH = 113;

  private final QueuePair qp;
  private final AtomicBoolean reported = new AtomicBoolean();

  /** The NIC's asynchronous event, in words; empty if none ended the queue pair. */
  private volatile String event = "";

  QueuePairErrors(QueuePair qp) {
    this.qp = qp;
  }

  /** Java saw an error; with the gate held. Ends the submitters' waits too. */
  void seen() {
    if (reported.get() || !reported.compareAndSet(false, true)) {
      return;
    }
    SendQueue queue = qp.queue();
    queue.mark(SendQueue.STATE_ERROR);
    qp.latchError();
    int syndrome = queue.errorSyndrome();
    long index = queue.errorIndex();
    String cause = ask();
    event = cause;
    Log.LOGGER.log(
        Level.WARNING,
        () ->
            qp
                + " is in ERROR"
                + (cause.isEmpty() ? "" : ": " + cause)
                + (syndrome == 0 ? "" : ": ticket " + index + ", " + Syndrome.describe(syndrome)));
    QueuePairFailed failed = new QueuePairFailed();
    failed.number = qp.number();
    failed.syndrome = syndrome;
    failed.index = index;
    failed.commit();
  }

  /** A NIC that is gone answers nothing, which must not hide the error. */
  private String ask() {
    try {
      return qp.served().event();
    } catch (RdmaException e) {
      return "the NIC does not say why: " + e.getMessage();
    }
  }

  String event() {
    return event;
  }

  void clear() {
    reported.set(false);
    event = "";
  }
}
