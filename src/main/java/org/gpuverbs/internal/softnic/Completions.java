// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.Wqe;

/** Send completions. All under the QP's send lock. */
final class Completions {
  private Completions() {}

  /**
   * The signalled WQE at q.ci succeeded. Collapsed: only remembered, since a later one of the same
   * pass covers it; {@link #flushSuccess} writes it at the end of the pass. False if the full CQ
   * overran.
   */
  static boolean success(SoftQp q, int opcode, long byteCount) {
    if (q.collapsed()) {
      q.signalled = q.ci;
      q.signalledOpcode = opcode;
      q.signalledBytes = byteCount;
      return true;
    }
    q.cqes.add(1);
    return q.attr
        .sendCq()
        .put(
            Mlx5.CQE_REQ,
            false,
            opcode << 24 | q.number(),
            (int) q.ci,
            byteCount,
            0,
            Syndrome.NONE,
            0);
  }

  /** Writes what {@link #success} remembered. */
  static void flushSuccess(SoftQp q) {
    if (q.signalled < 0) {
      return;
    }
    CqeWriter.write(
        q.collapsedCqe,
        Mlx5.CQE_REQ << 4,
        q.signalledOpcode << 24 | q.number(),
        (int) q.signalled,
        q.signalledBytes,
        0,
        Syndrome.NONE,
        0);
    q.signalled = -1;
    q.cqes.add(1);
  }

  /**
   * An error CQE for the WQE at q.ci. A collapsed CQ keeps its first error, unless the NIC is to be
   * as hardware is: what follows is flushed, and a flush must not hide the root cause.
   */
  static void error(SoftQp q, int opcode, int syndrome, int vendor) {
    int sopQpn = opcode << 24 | q.number();
    if (q.collapsed()) {
      if (q.errorLatched && !q.flushesOverwrite) {
        return;
      }
      q.errorLatched = true;
      // The error stands for the successes before it as well: they are below its index.
      q.signalled = -1;
      CqeWriter.write(
          q.collapsedCqe, Mlx5.CQE_REQ_ERR << 4, sopQpn, (int) q.ci, 0, 0, syndrome, vendor);
      q.cqes.add(1);
    } else if (q.attr
        .sendCq()
        .put(Mlx5.CQE_REQ_ERR, false, sopQpn, (int) q.ci, 0, 0, syndrome, vendor)) {
      q.cqes.add(1);
    }
  }

  /** Flushes the WQEs that a doorbell has covered: each completes with 0x05, signalled or not. */
  static void flushSends(SoftQp q) {
    while (q.ci < q.pi) {
      long control = HostMemory.getBe64(q.ring + ((q.ci & q.mask) << Mlx5.WQEBB_SHIFT));
      error(q, Wqe.opcode(control), Syndrome.FLUSHED, 0);
      q.ci += Math.min(q.pi - q.ci, wqebbs(q, control));
      q.wqes.add(1);
    }
  }

  /** Size of a WQE that nobody has checked; 1 where it isn't the one that is due. */
  static int wqebbs(SoftQp q, long control) {
    int ds = Wqe.ds(control);
    boolean due = Wqe.index(control) == (q.ci & 0xffff);
    return due && ds >= 1 && ds <= Mlx5.MAX_DS ? Mlx5.wqebbs(ds) : 1;
  }
}
