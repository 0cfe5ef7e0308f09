// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.Outlet;
import org.gpuverbs.internal.deferred.Port;
import org.jspecify.annotations.Nullable;

/** A {@link Destination} as one sender sees it. For the lock's holder. */
final class QueuePairPort extends Port {
  private final DeferredSender sender;
  private final Destination destination;
  private @Nullable QueuePairOutlet last;

  /** How many channels lead here; within the map's own locking. */
  int channels;

  QueuePairPort(DeferredSender sender, Destination destination) {
    this.sender = sender;
    this.destination = destination;
  }

  @Override
  protected @Nullable Outlet resolve() {
    QueuePair qp = destination.queuePair();
    if (qp == null) {
      return null;
    }
    QueuePairOutlet outlet = last;
    if (outlet == null || !outlet.is(qp)) {
      outlet = sender.outlet(qp);
      last = outlet;
    }
    return outlet;
  }
}
