// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.wire;

/**
 * The fields of WQEs, taken from their 8-byte words, each read as a big-endian long at a multiple
 * of 8. So one load gives several fields.
 */
public final class Wqe {
  private Wqe() {}

  // Control segment, bytes 0..7: opmod, index, opcode, QP number, ds.

  /** The control segment's first word, to compare a whole WQE head at once. */
  public static long control(int opmod, int index, int opcode, int qpNumber, int ds) {
    return (long) opmod << 56
        | (index & 0xffffL) << 40
        | (long) opcode << 32
        | (long) qpNumber << 8
        | ds;
  }

  public static int opmod(long control) {
    return (int) (control >>> 56);
  }

  /** Low 16 bits of the WQE's first WQEBB index. */
  public static int index(long control) {
    return (int) (control >>> 40) & 0xffff;
  }

  public static int opcode(long control) {
    return (int) (control >>> 32) & 0xff;
  }

  /** 24 bits. Doorbell words have it in the same place. */
  public static int qpNumber(long control) {
    return (int) control >>> 8;
  }

  /** Size in 16-byte units, the control segment included. */
  public static int ds(long control) {
    return (int) control & 0xff;
  }

  // Control segment, bytes 8..15: signature, stream channel, flags, immediate.

  public static int signature(long tail) {
    return (int) (tail >>> 56);
  }

  /** fm_ce_se: {@code Mlx5.CTRL_*} flags. */
  public static int flags(long tail) {
    return (int) (tail >>> 32) & 0xff;
  }

  public static boolean signalled(long tail) {
    return (flags(tail) & Mlx5.CTRL_CQ_UPDATE) != 0;
  }

  public static boolean solicited(long tail) {
    return (flags(tail) & Mlx5.CTRL_SOLICITED) != 0;
  }

  /** Immediate data in host order, as the sender gave it. */
  public static int immediate(long tail) {
    return (int) tail;
  }

  // Remote address segment: the address is its first word.

  /** From the segment's second word. */
  public static int rkey(long word) {
    return (int) (word >>> 32);
  }

  // Data segment: byte count and lkey in the first word, the address is the second.

  /** Whether the word begins an inline segment: MLX5_INLINE_SEG is its top bit. */
  public static boolean inline(long head) {
    return head < 0;
  }

  /** Payload bytes of an inline segment; they follow its 4-byte header. */
  public static int inlineBytes(long head) {
    return (int) (head >>> 32) & ~Mlx5.INLINE_SEG;
  }

  /** 16-byte units of an inline segment. */
  public static int inlineUnits(int bytes) {
    return (int) ((4L + bytes + Mlx5.UNIT - 1) / Mlx5.UNIT);
  }

  /** Length of a data segment; 0 on the wire means 2^31. */
  public static long byteCount(long head) {
    long count = head >>> 32;
    return count == 0 ? 1L << 31 : count;
  }

  public static int lkey(long head) {
    return (int) head;
  }
}
