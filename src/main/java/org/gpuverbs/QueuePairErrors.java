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
    Log.LOGGER.log(
        Level.WARNING,
        () ->
            qp
                + " is in ERROR"
                + (syndrome == 0 ? "" : ": ticket " + index + ", " + Syndrome.describe(syndrome)));
    QueuePairFailed event = new QueuePairFailed();
    event.number = qp.number();
    event.syndrome = syndrome;
    event.index = index;
    event.commit();
  }

  void clear() {
    reported.set(false);
  }
}
