// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import org.jspecify.annotations.Nullable;

/** The ordered sends of one source to one destination. For the lock's holder. */
public final class Flow {
  final Port port;
  final Chain waiting = new Chain();

  /** Where the last ordered send went, and how many are on their way there. */
  @Nullable Outlet lastOutlet;

  int inFlight;

  private volatile boolean failed;

  /** Nothing is queued. */
  public Flow(Port port) {
    this.port = port;
  }

  /** Whether an ordered send failed since the last reset. Any thread. */
  public boolean failed() {
    return failed;
  }

  void failed(boolean now) {
    failed = now;
  }

  /**
   * Whether a send to {@code outlet} would arrive after the flow's earlier ones: a queue pair keeps
   * its order, and another one must not be used before the last one is done.
   */
  boolean follows(Outlet outlet) {
    return lastOutlet == outlet || inFlight == 0;
  }
}
