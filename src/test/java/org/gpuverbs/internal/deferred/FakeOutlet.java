// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.ArrayList;
import java.util.List;

/** Takes sends while there is room; completes them, or fails them, when a test says so. */
final class FakeOutlet extends Outlet {
  /** Numbers of the sends released here, in their order. */
  final List<Integer> log = new ArrayList<>();

  private final int errorCode;
  boolean full;

  /** Tickets below are complete; from {@code failedFrom} on they have failed. */
  long completed;

  long failedFrom = Long.MAX_VALUE;

  FakeOutlet(int errorCode) {
    this.errorCode = errorCode;
  }

  int inFlight() {
    return (int) (log.size() - completed);
  }

  @Override
  protected long release(Slot slot) {
    return send(((NumberedSlot) slot).number);
  }

  long send(int number) {
    if (failedFrom != Long.MAX_VALUE) {
      return errorCode;
    }
    if (full) {
      return RETRY;
    }
    log.add(number);
    return log.size() - 1;
  }

  @Override
  protected long poll(long ticket) {
    if (ticket < completed) {
      return Status.DONE;
    }
    return ticket >= failedFrom ? errorCode : PENDING;
  }
}
