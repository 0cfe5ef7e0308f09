// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;
import org.gpuverbs.internal.wire.Wqe;

/**
 * Executes one WQE of any kind: q.ci's, whose control segment has been checked. Changes nothing if
 * it stalls. One NIC thread; the QP's send lock and, if {@code peer} isn't null, the peer's receive
 * lock are held.
 */
final class Operations {
  private final SegmentList local = new SegmentList();
  private final SegmentList receive = new SegmentList();
  private final DevicePayload devices;

  // Of the WQE under way: the control segment's second word, and where its remote address is.
  private long tail;
  private SoftMr remoteMr = SoftMr.NONE;
  private MemorySegment remoteSegment = MemorySegment.NULL;
  private long remoteOffset;

  Operations(DevicePayload devices) {
    this.devices = devices;
  }

  /** Payload bytes of the last WQE that succeeded. */
  long bytes;

  /** What a CQE reports as byte_cnt for it: bytes read or fetched. */
  long byteCount;

  /**
   * @param peer the responder, or null if it can't be had now, which {@code noPeer} explains
   * @return {@link Result}
   */
  int execute(SoftQp q, SoftQp peer, int noPeer, long control) {
    int opcode = Wqe.opcode(control);
    int opmod = Wqe.opmod(control);
    int ds = Wqe.ds(control);
    tail = HostMemory.getBe64(SendParser.unit(q, 0) + 8);
    bytes = 0;
    byteCount = 0;
    // RC order: what an earlier message stored is seen before what this one stores.
    VarHandle.releaseFence();
    try {
      return switch (opcode) {
        case Mlx5.OPCODE_NOP -> opmod == 0 ? Result.OK : badOpcode();
        case Mlx5.OPCODE_DUMP -> opmod == 0 ? dump(q, ds) : badOpcode();
        case Mlx5.OPCODE_RDMA_WRITE, Mlx5.OPCODE_RDMA_WRITE_IMM ->
            opmod == 0 ? write(q, peer, noPeer, opcode, ds) : badOpcode();
        case Mlx5.OPCODE_SEND, Mlx5.OPCODE_SEND_IMM ->
            opmod == 0 ? send(q, peer, noPeer, opcode, ds) : badOpcode();
        case Mlx5.OPCODE_RDMA_READ -> opmod == 0 ? read(q, peer, noPeer, ds) : badOpcode();
        case Mlx5.OPCODE_ATOMIC_CS, Mlx5.OPCODE_ATOMIC_FA ->
            opmod == 0 ? atomic(q, peer, noPeer, opcode, 8, ds) : badOpcode();
        case Mlx5.OPCODE_ATOMIC_MASKED_CS, Mlx5.OPCODE_ATOMIC_MASKED_FA ->
            opmod == Mlx5.OPMOD_MASKED_4_BYTES
                ? atomic(q, peer, noPeer, opcode, 4, ds)
                : opmod == Mlx5.OPMOD_MASKED_8_BYTES
                    ? atomic(q, peer, noPeer, opcode, 8, ds)
                    : badOpcode();
        default -> badOpcode();
      };
    } finally {
      local.clear();
      receive.clear();
      remoteMr = SoftMr.NONE;
    }
  }

  private static int badOpcode() {
    return Result.error(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.WQE_OPCODE);
  }

  private static int badSegments() {
    return Result.error(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.WQE_SEGMENTS);
  }

  private int dump(SoftQp q, int ds) {
    // Everything before it has been executed already, so only the checks are left.
    return SendParser.segments(q, 1, ds, 0, local);
  }

  private int write(SoftQp q, SoftQp peer, int noPeer, int opcode, int ds) {
    if (ds < 2) {
      return badSegments();
    }
    int result = SendParser.segments(q, 2, ds, 0, local);
    if (result != Result.OK) {
      return result;
    }
    if (peer == null) {
      return noPeer;
    }
    boolean immediate = opcode == Mlx5.OPCODE_RDMA_WRITE_IMM;
    long total = local.total;
    if (total > 0) {
      result = remote(q, peer, total, SoftMr.REMOTE_WRITE);
      if (result != Result.OK) {
        return result;
      }
    }
    if (immediate) {
      result = Responder.receiveReady(peer);
      if (result != Result.OK) {
        return result;
      }
    }
    if (total > 0) {
      try {
        if (DevicePayload.involved(local, remoteMr)) {
          result = devices.gather(q, local, remoteMr, remoteOffset);
        } else {
          result = devices.settle();
          if (result == Result.OK) {
            Payload.gather(local, remoteSegment, remoteOffset);
          }
        }
        if (result == Result.OK && immediate) {
          result = devices.settle();
        }
        if (result != Result.OK) {
          return result;
        }
      } catch (IllegalStateException | InternalError e) {
        return local.alive() && e instanceof IllegalStateException
            ? remoteClosed(peer)
            : localClosed();
      }
    }
    bytes = total;
    return immediate
        ? Responder.completeReceive(
            peer, Mlx5.CQE_RESP_WR_IMM, Wqe.solicited(tail), total, Wqe.immediate(tail))
        : Result.OK;
  }

  private int send(SoftQp q, SoftQp peer, int noPeer, int opcode, int ds) {
    int result = SendParser.segments(q, 1, ds, 0, local);
    if (result != Result.OK) {
      return result;
    }
    if (peer == null) {
      return noPeer;
    }
    result = Responder.receiveReady(peer);
    if (result != Result.OK) {
      return result;
    }
    long total = local.total;
    result = Responder.scatterList(peer, total, receive);
    if (result != Result.OK) {
      return result;
    }
    try {
      if (local.device != null || receive.device != null) {
        result = devices.copy(q, local, receive);
      } else {
        result = devices.settle();
        if (result == Result.OK) {
          Payload.copy(local, receive);
        }
      }
      if (result == Result.OK) {
        result = devices.settle();
      }
      if (result != Result.OK) {
        return result;
      }
    } catch (IllegalStateException | InternalError e) {
      return local.alive() && e instanceof IllegalStateException
          ? Responder.failReceive(
              peer,
              Syndrome.LOCAL_PROTECTION,
              VendorSyndrome.MEMORY_CLOSED,
              Syndrome.REMOTE_OPERATION)
          : localClosed();
    }
    bytes = total;
    boolean immediate = opcode == Mlx5.OPCODE_SEND_IMM;
    return Responder.completeReceive(
        peer,
        immediate ? Mlx5.CQE_RESP_SEND_IMM : Mlx5.CQE_RESP_SEND,
        Wqe.solicited(tail),
        total,
        immediate ? Wqe.immediate(tail) : 0);
  }

  private int read(SoftQp q, SoftQp peer, int noPeer, int ds) {
    if (ds < 2) {
      return badSegments();
    }
    int result = SendParser.segments(q, 2, ds, SoftMr.LOCAL_WRITE, local);
    if (result != Result.OK) {
      return result;
    }
    if (peer == null) {
      return noPeer;
    }
    long total = local.total;
    if (total > 0) {
      result = remote(q, peer, total, SoftMr.REMOTE_READ);
      if (result != Result.OK) {
        return result;
      }
      try {
        if (DevicePayload.involved(local, remoteMr)) {
          result = devices.scatter(q, remoteMr, remoteOffset, local);
        } else {
          result = devices.settle();
          if (result == Result.OK) {
            Payload.scatter(remoteSegment, remoteOffset, local);
          }
        }
        if (result != Result.OK) {
          return result;
        }
      } catch (IllegalStateException | InternalError e) {
        return local.alive() && e instanceof IllegalStateException
            ? remoteClosed(peer)
            : localClosed();
      }
    }
    bytes = total;
    byteCount = total;
    return Result.OK;
  }

  private int atomic(SoftQp q, SoftQp peer, int noPeer, int opcode, int size, int ds) {
    // A masked 64-bit compare-swap has its masks in a second segment.
    int from = opcode == Mlx5.OPCODE_ATOMIC_MASKED_CS && size == 8 ? 4 : 3;
    if (ds < from) {
      return badSegments();
    }
    int result = SendParser.segments(q, from, ds, SoftMr.LOCAL_WRITE, local);
    if (result != Result.OK) {
      return result;
    }
    if (local.total != size) {
      return Result.error(Syndrome.LOCAL_LENGTH, VendorSyndrome.RESULT_LENGTH);
    }
    if (!local.alive()) {
      return localClosed();
    }
    if (peer == null) {
      return noPeer;
    }
    long address = HostMemory.getBe64(SendParser.unit(q, 1));
    if ((address & (size - 1)) != 0) {
      return Responder.refuse(peer, Syndrome.REMOTE_INVALID_REQUEST, VendorSyndrome.ALIGNMENT);
    }
    result = remote(q, peer, size, SoftMr.REMOTE_ATOMIC);
    if (result != Result.OK) {
      return result;
    }
    result = devices.settle();
    if (result != Result.OK) {
      return result;
    }
    long old;
    try {
      long operands = SendParser.unit(q, 2);
      if (remoteMr.host) {
        old = size == 8 ? atomic8(q, opcode, operands) : atomic4(opcode, operands);
      } else {
        result = deviceAtomic(q, opcode, size, operands);
        if (result != Result.OK) {
          return result;
        }
        old = devices.fetched();
      }
    } catch (IllegalStateException | InternalError e) {
      return remoteClosed(peer);
    }
    try {
      if (local.device == null) {
        Payload.store(old, size, local);
      } else {
        result = devices.result(q, old, size, local);
        if (result != Result.OK) {
          return result;
        }
      }
    } catch (IllegalStateException | InternalError e) {
      return localClosed();
    }
    bytes = size;
    byteCount = size;
    return Result.OK;
  }

  private long atomic8(SoftQp q, int opcode, long operands) {
    long first = HostMemory.getBe64(operands);
    long second = HostMemory.getBe64(operands + 8);
    return switch (opcode) {
      case Mlx5.OPCODE_ATOMIC_FA -> Atomics.fetchAdd(remoteSegment, remoteOffset, first);
      case Mlx5.OPCODE_ATOMIC_CS -> Atomics.compareSwap(remoteSegment, remoteOffset, second, first);
      case Mlx5.OPCODE_ATOMIC_MASKED_FA ->
          Atomics.maskedFetchAdd(remoteSegment, remoteOffset, first, second);
      default -> {
        long masks = SendParser.unit(q, 3);
        yield Atomics.maskedCompareSwap(
            remoteSegment,
            remoteOffset,
            second,
            HostMemory.getBe64(masks + 8),
            first,
            HostMemory.getBe64(masks));
      }
    };
  }

  private long atomic4(int opcode, long operands) {
    int first = HostMemory.getBe32(operands);
    int second = HostMemory.getBe32(operands + 4);
    return opcode == Mlx5.OPCODE_ATOMIC_MASKED_FA
        ? Atomics.maskedFetchAdd(remoteSegment, remoteOffset, first, second)
        : Atomics.maskedCompareSwap(
            remoteSegment,
            remoteOffset,
            second,
            HostMemory.getBe32(operands + 12),
            first,
            HostMemory.getBe32(operands + 8));
  }

  private int deviceAtomic(SoftQp q, int opcode, int size, long operands) {
    long masks = SendParser.unit(q, 3);
    return devices.atomic(
        q,
        remoteMr,
        remoteOffset,
        size,
        old -> size == 8 ? next8(opcode, old, operands, masks) : next4(opcode, old, operands));
  }

  private static long next8(int opcode, long old, long operands, long masks) {
    long first = HostMemory.getBe64(operands);
    long second = HostMemory.getBe64(operands + 8);
    return switch (opcode) {
      case Mlx5.OPCODE_ATOMIC_FA -> old + first;
      case Mlx5.OPCODE_ATOMIC_CS -> old == second ? first : old;
      case Mlx5.OPCODE_ATOMIC_MASKED_FA -> Atomics.fieldAdd(old, first, second);
      default ->
          Atomics.swapped(
              old, second, HostMemory.getBe64(masks + 8), first, HostMemory.getBe64(masks));
    };
  }

  private static long next4(int opcode, long old, long operands) {
    int first = HostMemory.getBe32(operands);
    int second = HostMemory.getBe32(operands + 4);
    return (int)
        (opcode == Mlx5.OPCODE_ATOMIC_MASKED_FA
            ? Atomics.fieldAdd(old, first, second)
            : Atomics.swapped(
                old,
                second,
                HostMemory.getBe32(operands + 12),
                first,
                HostMemory.getBe32(operands + 8)));
  }

  /** Checks the remote address segment in unit 1; an error is a NAK. */
  private int remote(SoftQp q, SoftQp peer, long total, int needed) {
    long at = SendParser.unit(q, 1);
    SoftMr mr = Responder.region(peer, q, Wqe.rkey(HostMemory.getBe64(at + 8)));
    if (mr == null) {
      return Responder.refuse(peer, Syndrome.REMOTE_ACCESS, VendorSyndrome.KEY);
    }
    remoteOffset = HostMemory.getBe64(at) - mr.address;
    if (!mr.contains(remoteOffset, total)) {
      return Responder.refuse(peer, Syndrome.REMOTE_ACCESS, VendorSyndrome.BOUNDS);
    }
    if (!mr.allows(needed)) {
      return Responder.refuse(peer, Syndrome.REMOTE_ACCESS, VendorSyndrome.PERMISSION);
    }
    remoteMr = mr;
    remoteSegment = mr.segment;
    return Result.OK;
  }

  private static int remoteClosed(SoftQp peer) {
    return Responder.refuse(peer, Syndrome.REMOTE_ACCESS, VendorSyndrome.MEMORY_CLOSED);
  }

  private static int localClosed() {
    return Result.error(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_CLOSED);
  }
}
