// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Our constants and offsets are rdma-core's. */
class GoldenConstantsTest {
  private static final Map<String, Integer> CONSTANTS =
      Map.ofEntries(
          Map.entry("MLX5_SEND_WQE_BB", Mlx5.WQEBB),
          Map.entry("MLX5_SEND_WQE_SHIFT", Mlx5.WQEBB_SHIFT),
          Map.entry("MLX5_INLINE_SEG", Mlx5.INLINE_SEG),
          Map.entry("MLX5_INVALID_LKEY", Mlx5.INVALID_LKEY),
          Map.entry("MLX5_RCV_DBR", Mlx5.DBR_RECEIVE / 4),
          Map.entry("MLX5_SND_DBR", Mlx5.DBR_SEND / 4),
          Map.entry("MLX5_WQE_CTRL_CQ_UPDATE", Mlx5.CTRL_CQ_UPDATE),
          Map.entry("MLX5_WQE_CTRL_SOLICITED", Mlx5.CTRL_SOLICITED),
          Map.entry("MLX5_WQE_CTRL_FENCE", Mlx5.CTRL_FENCE),
          Map.entry("MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE", Mlx5.CTRL_INITIATOR_SMALL_FENCE),
          Map.entry("MLX5_OPCODE_NOP", Mlx5.OPCODE_NOP),
          Map.entry("MLX5_OPCODE_RDMA_WRITE", Mlx5.OPCODE_RDMA_WRITE),
          Map.entry("MLX5_OPCODE_RDMA_WRITE_IMM", Mlx5.OPCODE_RDMA_WRITE_IMM),
          Map.entry("MLX5_OPCODE_SEND", Mlx5.OPCODE_SEND),
          Map.entry("MLX5_OPCODE_SEND_IMM", Mlx5.OPCODE_SEND_IMM),
          Map.entry("MLX5_OPCODE_RDMA_READ", Mlx5.OPCODE_RDMA_READ),
          Map.entry("MLX5_OPCODE_ATOMIC_CS", Mlx5.OPCODE_ATOMIC_CS),
          Map.entry("MLX5_OPCODE_ATOMIC_FA", Mlx5.OPCODE_ATOMIC_FA),
          Map.entry("MLX5_OPCODE_ATOMIC_MASKED_CS", Mlx5.OPCODE_ATOMIC_MASKED_CS),
          Map.entry("MLX5_OPCODE_ATOMIC_MASKED_FA", Mlx5.OPCODE_ATOMIC_MASKED_FA),
          Map.entry("MLX5_CQE_OWNER_MASK", Mlx5.CQE_OWNER_MASK),
          Map.entry("MLX5_CQE_REQ", Mlx5.CQE_REQ),
          Map.entry("MLX5_CQE_RESP_WR_IMM", Mlx5.CQE_RESP_WR_IMM),
          Map.entry("MLX5_CQE_RESP_SEND", Mlx5.CQE_RESP_SEND),
          Map.entry("MLX5_CQE_RESP_SEND_IMM", Mlx5.CQE_RESP_SEND_IMM),
          Map.entry("MLX5_CQE_REQ_ERR", Mlx5.CQE_REQ_ERR),
          Map.entry("MLX5_CQE_RESP_ERR", Mlx5.CQE_RESP_ERR),
          Map.entry("MLX5_CQE_INVALID", Mlx5.CQE_INVALID),
          Map.entry("MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR", Syndrome.LOCAL_LENGTH),
          Map.entry("MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR", Syndrome.LOCAL_QP_OPERATION),
          Map.entry("MLX5_CQE_SYNDROME_LOCAL_PROT_ERR", Syndrome.LOCAL_PROTECTION),
          Map.entry("MLX5_CQE_SYNDROME_WR_FLUSH_ERR", Syndrome.FLUSHED),
          Map.entry("MLX5_CQE_SYNDROME_MW_BIND_ERR", Syndrome.MW_BIND),
          Map.entry("MLX5_CQE_SYNDROME_BAD_RESP_ERR", Syndrome.BAD_RESPONSE),
          Map.entry("MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR", Syndrome.LOCAL_ACCESS),
          Map.entry("MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR", Syndrome.REMOTE_INVALID_REQUEST),
          Map.entry("MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR", Syndrome.REMOTE_ACCESS),
          Map.entry("MLX5_CQE_SYNDROME_REMOTE_OP_ERR", Syndrome.REMOTE_OPERATION),
          Map.entry("MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR", Syndrome.RETRY_EXCEEDED),
          Map.entry("MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR", Syndrome.RNR_RETRY_EXCEEDED),
          Map.entry("MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR", Syndrome.REMOTE_ABORTED));

  private static final Map<String, Integer> OFFSETS =
      Map.ofEntries(
          Map.entry("mlx5_wqe_ctrl_seg.opmod_idx_opcode", Mlx5.CTRL_OPMOD_IDX_OPCODE),
          Map.entry("mlx5_wqe_ctrl_seg.qpn_ds", Mlx5.CTRL_QPN_DS),
          Map.entry("mlx5_wqe_ctrl_seg.signature", Mlx5.CTRL_SIGNATURE),
          Map.entry("mlx5_wqe_ctrl_seg.fm_ce_se", Mlx5.CTRL_FM_CE_SE),
          Map.entry("mlx5_wqe_ctrl_seg.imm", Mlx5.CTRL_IMM),
          Map.entry("mlx5_wqe_raddr_seg.raddr", Mlx5.RADDR_ADDRESS),
          Map.entry("mlx5_wqe_raddr_seg.rkey", Mlx5.RADDR_RKEY),
          Map.entry("mlx5_wqe_data_seg.byte_count", Mlx5.DATA_BYTE_COUNT),
          Map.entry("mlx5_wqe_data_seg.lkey", Mlx5.DATA_LKEY),
          Map.entry("mlx5_wqe_data_seg.addr", Mlx5.DATA_ADDRESS),
          Map.entry("mlx5_wqe_atomic_seg.swap_add", Mlx5.ATOMIC_SWAP_ADD),
          Map.entry("mlx5_wqe_atomic_seg.compare", Mlx5.ATOMIC_COMPARE),
          Map.entry("mlx5_cqe64.srqn_uidx", Mlx5.CQE_SRQN_UIDX),
          Map.entry("mlx5_cqe64.imm_inval_pkey", Mlx5.CQE_IMM),
          Map.entry("mlx5_cqe64.byte_cnt", Mlx5.CQE_BYTE_CNT),
          Map.entry("mlx5_cqe64.timestamp", Mlx5.CQE_TIMESTAMP),
          Map.entry("mlx5_cqe64.sop_drop_qpn", Mlx5.CQE_SOP_DROP_QPN),
          Map.entry("mlx5_cqe64.wqe_counter", Mlx5.CQE_WQE_COUNTER),
          Map.entry("mlx5_cqe64.signature", Mlx5.CQE_SIGNATURE),
          Map.entry("mlx5_cqe64.op_own", Mlx5.CQE_OP_OWN),
          Map.entry("mlx5_err_cqe.vendor_err_synd", Mlx5.CQE_VENDOR_ERR_SYND),
          Map.entry("mlx5_err_cqe.syndrome", Mlx5.CQE_SYNDROME),
          Map.entry("mlx5_err_cqe.s_wqe_opcode_qpn", Mlx5.CQE_SOP_DROP_QPN),
          Map.entry("mlx5_err_cqe.wqe_counter", Mlx5.CQE_WQE_COUNTER),
          Map.entry("mlx5_err_cqe.op_own", Mlx5.CQE_OP_OWN));

  @Test
  void constantsAreRdmaCores() {
    for (Golden.Record golden : Golden.records("const")) {
      assertTrue(CONSTANTS.containsKey(golden.name()), () -> "not compared: " + golden);
      assertEquals(
          golden.number("value"), CONSTANTS.get(golden.name()) & 0xffff_ffffL, golden::toString);
    }
    assertEquals(CONSTANTS.size(), Golden.records("const").size());
  }

  @Test
  void offsetsAreRdmaCores() {
    for (Golden.Record golden : Golden.records("field")) {
      assertTrue(OFFSETS.containsKey(golden.name()), () -> "not compared: " + golden);
      assertEquals(golden.number("offset"), (long) OFFSETS.get(golden.name()), golden::toString);
    }
    assertEquals(OFFSETS.size(), Golden.records("field").size());
  }

  @Test
  void sizesAreRdmaCores() {
    for (Golden.Record golden : Golden.records("struct")) {
      long size =
          switch (golden.name()) {
            case "mlx5_cqe64", "mlx5_err_cqe" -> Mlx5.CQE_SIZE;
            case "mlx5_wqe_inl_data_seg" -> 4;
            default -> Mlx5.UNIT;
          };
      assertEquals(golden.number("size"), size, golden::toString);
    }
  }

  @Test
  void everySyndromeHasANameAndAHint() {
    TreeSet<String> names = new TreeSet<>();
    CONSTANTS.forEach(
        (name, value) -> {
          if (name.startsWith("MLX5_CQE_SYNDROME")) {
            names.add(Syndrome.name(value));
            assertTrue(!Syndrome.hint(value).equals(Syndrome.hint(0xff)), name);
          }
        });
    assertEquals(13, names.size());
    assertTrue(names.stream().noneMatch(name -> name.startsWith("syndrome 0x")));
  }
}
