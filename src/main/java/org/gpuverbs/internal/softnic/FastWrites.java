// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Wqe;

/**
 * The hot loop: a run of RDMA WRITEs with one data segment in the regions that the QP used last. It
 * only ever stops early; {@link Operations} then decides about the WQE that stopped it, errors
 * included.
 */
final class FastWrites {
  private static final int DS = 3;

  /** Payload bytes of the last run. */
  long bytes;

  /**
   * Executes WQEs from q.ci on, at most {@code limit}, until {@code maxBytes} are moved. Needs
   * q.sendLock, the peer's receive lock, valid regions in the QP's caches with remote write access,
   * and a collapsed CQ. Returns how many, each one WQEBB.
   */
  int run(SoftQp q, int limit, long maxBytes) {
    SoftMr local = q.localMr;
    SoftMr remote = q.remoteMr;
    MemorySegment from = local.segment;
    MemorySegment to = remote.segment;
    int lkey = local.key;
    int rkey = remote.key;
    long ring = q.ring;
    long mask = q.mask;
    long first = q.ci;
    // The whole of the first 8 bytes but for the index: opmod 0, opcode WRITE, our QPN, ds 3.
    long head = Wqe.control(0, 0, Mlx5.OPCODE_RDMA_WRITE, q.number(), DS);
    long maxMessage = q.nic.maxMessageBytes();
    long signalled = -1;
    long moved = 0;
    int n = 0;
    try {
      while (n < limit && moved < maxBytes) {
        long ci = first + n;
        long wqe = ring + ((ci & mask) << Mlx5.WQEBB_SHIFT);
        long data = HostMemory.getBe64(wqe + 32);
        long length = data >>> 32;
        long offset = HostMemory.getBe64(wqe + 40) - local.address;
        long remoteOffset = HostMemory.getBe64(wqe + 16) - remote.address;
        if (HostMemory.getBe64(wqe) != (head | (ci & 0xffff) << 40)
            || (int) data != lkey
            || Integer.reverseBytes((int) HostMemory.getLong(wqe + 24)) != rkey
            || length > maxMessage
            || length == 0 // 2^31
            || !local.contains(offset, length)
            || !remote.contains(remoteOffset, length)) {
          break;
        }
        VarHandle.releaseFence(); // RC order, see Operations
        Payload.copy(from, offset, to, remoteOffset, length);
        if ((HostMemory.getLong(wqe + 8) & ((long) Mlx5.CTRL_CQ_UPDATE << 24)) != 0) {
          signalled = ci;
        }
        moved += length;
        n++;
      }
    } catch (IllegalStateException | InternalError e) {
      // A closed arena. The WQE is executed again by Operations, which finds out whose.
    }
    if (signalled >= 0) {
      q.signalled = signalled;
      q.signalledOpcode = Mlx5.OPCODE_RDMA_WRITE;
      q.signalledBytes = 0;
    }
    q.ci = first + n;
    bytes = moved;
    return n;
  }
}
