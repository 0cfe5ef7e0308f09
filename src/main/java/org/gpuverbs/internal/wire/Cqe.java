// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads the fields of one 64-byte CQE that lies at {@code offset} (a multiple of 8) of a segment.
 *
 * <p>Read {@link #valid} or {@link #opOwn} first: it is the acquire load that orders everything
 * that the NIC stored before it published the CQE. Any thread.
 */
public final class Cqe {
  private static final ValueLayout.OfInt BE32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfShort BE16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

  private Cqe() {}

  /** The op_own byte, by an acquire load. */
  public static int opOwn(MemorySegment cq, long offset) {
    return (byte) BYTE.getAcquire(cq, offset + Mlx5.CQE_OP_OWN) & 0xff;
  }

  /**
   * Whether the CQE at consumer index {@code index} of a ring of {@code depth} (a power of two) has
   * been written by the NIC: its opcode is not INVALID and its owner bit equals the parity of the
   * lap.
   */
  public static boolean valid(int opOwn, long index, int depth) {
    return opcode(opOwn) != Mlx5.CQE_INVALID && owner(opOwn) == ((index & depth) != 0 ? 1 : 0);
  }

  /** As {@link #valid(int, long, int)}, reading op_own of the CQE at {@code offset}. */
  public static boolean valid(MemorySegment cq, long offset, long index, int depth) {
    return valid(opOwn(cq, offset), index, depth);
  }

  /** CQE opcode, one of {@code Mlx5.CQE_*}. */
  public static int opcode(int opOwn) {
    return opOwn >>> 4;
  }

  public static int owner(int opOwn) {
    return opOwn & Mlx5.CQE_OWNER_MASK;
  }

  public static boolean solicited(int opOwn) {
    return (opOwn & Mlx5.CQE_SE) != 0;
  }

  /** Whether the opcode is one of the two error opcodes. */
  public static boolean error(int opOwn) {
    int opcode = opcode(opOwn);
    return opcode == Mlx5.CQE_REQ_ERR || opcode == Mlx5.CQE_RESP_ERR;
  }

  /** Number of the QP that the completion belongs to, 24 bits. */
  public static int qpNumber(MemorySegment cq, long offset) {
    return cq.get(BE32, offset + Mlx5.CQE_SOP_DROP_QPN) & 0xff_ffff;
  }

  /** Requester CQEs: the opcode of the WQE that completed, one of {@code Mlx5.OPCODE_*}. */
  public static int sendOpcode(MemorySegment cq, long offset) {
    return cq.get(BE32, offset + Mlx5.CQE_SOP_DROP_QPN) >>> 24;
  }

  /** Low 16 bits of the index of the WQE's first WQEBB, or of the receive WQE. 0..65535. */
  public static int wqeCounter(MemorySegment cq, long offset) {
    return cq.get(BE16, offset + Mlx5.CQE_WQE_COUNTER) & 0xffff;
  }

  /** Bytes received, read or fetched, unsigned. Undefined in error CQEs. */
  public static long byteCount(MemorySegment cq, long offset) {
    return cq.get(BE32, offset + Mlx5.CQE_BYTE_CNT) & 0xffff_ffffL;
  }

  /** Immediate data in host order, as the sender gave it. */
  public static int immediate(MemorySegment cq, long offset) {
    return cq.get(BE32, offset + Mlx5.CQE_IMM);
  }

  /** Error CQEs: one of {@link Syndrome}. */
  public static int syndrome(MemorySegment cq, long offset) {
    return cq.get(ValueLayout.JAVA_BYTE, offset + Mlx5.CQE_SYNDROME) & 0xff;
  }

  /** Error CQEs: the vendor's detail, see {@link VendorSyndrome} for the software NIC's. */
  public static int vendorSyndrome(MemorySegment cq, long offset) {
    return cq.get(ValueLayout.JAVA_BYTE, offset + Mlx5.CQE_VENDOR_ERR_SYND) & 0xff;
  }
}
