// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.wire;

/**
 * Constants of the mlx5 wire format. Names and values are those of rdma-core's {@code mlx5dv.h}
 * unless a comment names another source. Every multi-byte field is big-endian.
 */
public final class Mlx5 {
  private Mlx5() {}

  // Sizes in bytes.
  /** MLX5_SEND_WQE_BB: a send ring is made of basic blocks of this size. */
  public static final int WQEBB = 64;

  public static final int WQEBB_SHIFT = 6;

  /** A WQE is made of 16-byte units; {@code ds} counts them. */
  public static final int UNIT = 16;

  /** {@code ds} has 6 bits in the device. */
  public static final int MAX_DS = 63;

  public static final int CQE_SIZE = 64;
  public static final int CQE_SHIFT = 6;
  public static final int RECEIVE_STRIDE = 64;
  public static final int RECEIVE_MAX_SEGMENTS = RECEIVE_STRIDE / UNIT;

  // Doorbell record: two be32 words.
  public static final int DBR_SIZE = 8;
  public static final int DBR_RECEIVE = 0;
  public static final int DBR_SEND = 4;

  // mlx5_wqe_ctrl_seg.
  public static final int CTRL_OPMOD_IDX_OPCODE = 0;
  public static final int CTRL_QPN_DS = 4;
  public static final int CTRL_SIGNATURE = 8;
  public static final int CTRL_FM_CE_SE = 11;
  public static final int CTRL_IMM = 12;

  // mlx5_wqe_raddr_seg.
  public static final int RADDR_ADDRESS = 0;
  public static final int RADDR_RKEY = 8;

  // mlx5_wqe_data_seg.
  public static final int DATA_BYTE_COUNT = 0;
  public static final int DATA_LKEY = 4;
  public static final int DATA_ADDRESS = 8;

  // mlx5_wqe_atomic_seg.
  public static final int ATOMIC_SWAP_ADD = 0;
  public static final int ATOMIC_COMPARE = 8;

  /** MLX5_INLINE_SEG: marks the byte count of an inline segment. */
  public static final int INLINE_SEG = 0x8000_0000;

  /** MLX5_INVALID_LKEY: ends the list of data segments in a receive WQE. */
  public static final int INVALID_LKEY = 0x100;

  // Opcodes of send WQEs.
  public static final int OPCODE_NOP = 0x00;
  public static final int OPCODE_RDMA_WRITE = 0x08;
  public static final int OPCODE_RDMA_WRITE_IMM = 0x09;
  public static final int OPCODE_SEND = 0x0a;
  public static final int OPCODE_SEND_IMM = 0x0b;
  public static final int OPCODE_RDMA_READ = 0x10;
  public static final int OPCODE_ATOMIC_CS = 0x11;
  public static final int OPCODE_ATOMIC_FA = 0x12;
  public static final int OPCODE_ATOMIC_MASKED_CS = 0x14;
  public static final int OPCODE_ATOMIC_MASKED_FA = 0x15;

  /**
   * Reads local memory and drops it: orders earlier DMA writes. Linux include/linux/mlx5/qp.h:
   * MLX5_OPCODE_DUMP.
   */
  public static final int OPCODE_DUMP = 0x23;

  // Modifiers of masked atomics (the extended atomic operations of the device).
  public static final int OPMOD_MASKED_4_BYTES = 0x08;
  public static final int OPMOD_MASKED_8_BYTES = 0x09;

  // fm_ce_se.
  public static final int CTRL_SOLICITED = 0x02;
  public static final int CTRL_CQ_UPDATE = 0x08;
  public static final int CTRL_INITIATOR_SMALL_FENCE = 0x20;
  public static final int CTRL_FENCE = 0x80;

  // mlx5_cqe64 and mlx5_err_cqe.
  public static final int CQE_SRQN_UIDX = 0x20;
  public static final int CQE_IMM = 0x24;
  public static final int CQE_BYTE_CNT = 0x2c;
  public static final int CQE_TIMESTAMP = 0x30;
  public static final int CQE_VENDOR_ERR_SYND = 0x36;
  public static final int CQE_SYNDROME = 0x37;
  public static final int CQE_SOP_DROP_QPN = 0x38;
  public static final int CQE_WQE_COUNTER = 0x3c;
  public static final int CQE_SIGNATURE = 0x3e;
  public static final int CQE_OP_OWN = 0x3f;

  // Opcodes of CQEs: the high nibble of op_own.
  public static final int CQE_REQ = 0;
  public static final int CQE_RESP_WR_IMM = 1;
  public static final int CQE_RESP_SEND = 2;
  public static final int CQE_RESP_SEND_IMM = 3;
  public static final int CQE_REQ_ERR = 13;
  public static final int CQE_RESP_ERR = 14;
  public static final int CQE_INVALID = 15;

  public static final int CQE_OWNER_MASK = 1;

  /** Solicited event: bit 1 of op_own (mlx5dv_get_cqe_se). */
  public static final int CQE_SE = 2;

  /** Blocks that a WQE of {@code ds} 16-byte units takes. */
  public static int wqebbs(int ds) {
    return (ds + 3) >>> 2;
  }
}
