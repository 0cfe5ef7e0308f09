// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * The destinations that something is ready for. Each has its own line, so that a full queue pair or
 * an unknown way holds up nobody else. For the lock's holder.
 */
final class Releases {
  private final Sends sends;
  private final List<Port> ports = new ArrayList<>();
  private int next;

  Releases(Sends sends) {
    this.sends = sends;
  }

  void add(Port port, Slot slot) {
    port.ready.add(slot.inReady);
    if (!port.listed) {
      port.listed = true;
      ports.add(port);
    }
  }

  /** Hands on up to {@code most} sends; destinations take turns at going first. */
  int release(int most) {
    int work = 0;
    int count = ports.size();
    for (int i = 0; i < count && work < most; i++) {
      int at = next >= ports.size() ? 0 : next;
      Port port = ports.get(at);
      work += release(port, most - work);
      if (port.ready.isEmpty()) {
        port.listed = false;
        Port last = ports.removeLast();
        if (last != port) {
          ports.set(at, last);
        }
        next = at;
      } else {
        next = at + 1;
      }
    }
    return work;
  }

  private int release(Port port, int most) {
    int work = 0;
    int held = 0;
    while (work < most && held < port.ready.size()) {
      Slot slot = port.ready.first();
      if (slot == null) {
        break;
      }
      Outlet outlet;
      try {
        outlet = port.resolve();
      } catch (RuntimeException e) {
        sends.fail(slot, Status.UNREACHABLE, e);
        skip(slot);
        work++;
        continue;
      }
      if (outlet == null) {
        break;
      }
      if (slot.ordered && !Sends.flow(slot).follows(outlet)) {
        // The destination has moved, and earlier sends of this flow are still on the old way.
        skip(slot);
        port.ready.add(slot.inReady);
        held++;
        continue;
      }
      if (!slot.move(Slot.WAITING, Slot.RELEASING)) {
        // Cancelled; the notice withdraws it.
        skip(slot);
        continue;
      }
      if (!release(slot, outlet)) {
        break;
      }
      work++;
    }
    return work;
  }

  private static void skip(Slot slot) {
    Chain.remove(slot.inReady);
  }

  /** False if there is no room. */
  private boolean release(Slot slot, Outlet outlet) {
    long result;
    @Nullable Throwable cause = null;
    try {
      result = outlet.release(slot);
    } catch (RuntimeException e) {
      result =
          e instanceof RdmaException rdma && rdma.code() != 0 ? rdma.code() : Status.UNREACHABLE;
      cause = e;
    }
    if (result == Outlet.RETRY) {
      slot.state(Slot.WAITING);
      return false;
    }
    if (result >= 0) {
      sends.released(slot, outlet, result);
    } else {
      sends.fail(slot, (int) result, cause);
    }
    return true;
  }
}
