// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;
import org.gpuverbs.internal.wire.Wqe;

/** Reads the segments of the WQE at q.ci. A WQE wraps at the ring's end block by block. */
final class SendParser {
  private SendParser() {}

  /** Address of a 16-byte unit of the WQE. */
  static long unit(SoftQp q, int unit) {
    return q.ring
        + (((q.ci + (unit >>> 2)) & q.mask) << Mlx5.WQEBB_SHIFT)
        + ((long) (unit & 3) << 4);
  }

  /**
   * Lists the data and inline segments in units [from, ds), checked against this QP's regions.
   *
   * @param needed access that each region must give; 0 for memory that is only read, where inline
   *     segments are allowed too
   * @return {@link Result}
   */
  static int segments(SoftQp q, int from, int ds, int needed, SegmentList out) {
    int unit = from;
    while (unit < ds) {
      long at = unit(q, unit);
      long head = HostMemory.getBe64(at);
      if (Wqe.inline(head)) {
        int bytes = Wqe.inlineBytes(head);
        int units = Wqe.inlineUnits(bytes);
        if (needed != 0 || unit + units > ds) {
          return Result.error(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.WQE_SEGMENTS);
        }
        inline(q, at + 4, bytes, out);
        unit += units;
      } else {
        int vendor = data(q, head, HostMemory.getBe64(at + 8), needed, out);
        if (vendor != 0) {
          return Result.error(Syndrome.LOCAL_PROTECTION, vendor);
        }
        unit++;
      }
    }
    return out.total > q.nic.maxMessageBytes()
        ? Result.error(Syndrome.LOCAL_LENGTH, VendorSyndrome.MESSAGE_TOO_LONG)
        : Result.OK;
  }

  private static void inline(SoftQp q, long at, int bytes, SegmentList out) {
    long end = q.ring + ((q.mask + 1L) << Mlx5.WQEBB_SHIFT);
    long first = Math.min(bytes, end - at);
    if (first > 0) {
      out.add(HostMemory.ALL, at, first);
    }
    if (first < bytes) {
      out.add(HostMemory.ALL, q.ring, bytes - first);
    }
  }

  /** 0, or the vendor syndrome of what doesn't fit. */
  private static int data(SoftQp q, long head, long address, int needed, SegmentList out) {
    int lkey = Wqe.lkey(head);
    long bytes = Wqe.byteCount(head);
    SoftMr mr = q.localMr;
    if (mr.key != lkey || !mr.valid) {
      mr = q.nic.keys.find(lkey);
      if (mr == null || !mr.valid) {
        return VendorSyndrome.KEY;
      }
      q.localMr = mr;
    }
    if (!mr.contains(address - mr.address, bytes)) {
      return VendorSyndrome.BOUNDS;
    }
    if (!mr.allows(needed)) {
      return VendorSyndrome.PERMISSION;
    }
    out.add(mr, address - mr.address, bytes);
    return 0;
  }
}
