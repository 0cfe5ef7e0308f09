// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Our decoder reads from rdma-core's bytes what rdma-core put there, field by field. */
class GoldenBytesTest {
  private static final ValueLayout.OfLong BE64 =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt BE32 =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

  @Test
  void controlSegmentsAreRead() {
    for (Golden.Record golden : Golden.records("wqe")) {
      MemorySegment bytes = golden.bytes();
      long control = bytes.get(BE64, 0);
      long tail = bytes.get(BE64, 8);
      assertEquals(0, Wqe.opmod(control), golden::toString);
      assertEquals(golden.number("idx"), Wqe.index(control), golden::toString);
      assertEquals(golden.number("opcode"), Wqe.opcode(control), golden::toString);
      assertEquals(golden.number("qpn"), Wqe.qpNumber(control), golden::toString);
      assertEquals(golden.number("ds"), Wqe.ds(control), golden::toString);
      assertEquals(golden.number("wqebbs"), Mlx5.wqebbs(Wqe.ds(control)), golden::toString);
      assertEquals(0, Wqe.signature(tail), golden::toString);
      assertEquals(golden.number("fm_ce_se"), Wqe.flags(tail), golden::toString);
      assertEquals(golden.flag("signaled"), Wqe.signalled(tail), golden::toString);
      assertEquals(golden.flag("solicited"), Wqe.solicited(tail), golden::toString);
      assertEquals(
          golden.has("imm") ? (int) golden.number("imm") : 0,
          Wqe.immediate(tail),
          golden::toString);
      assertEquals(
          control,
          Wqe.control(
              0,
              (int) golden.number("idx"),
              (int) golden.number("opcode"),
              (int) golden.number("qpn"),
              (int) golden.number("ds")),
          golden::toString);
    }
  }

  @Test
  void opcodesAreTheOperations() {
    for (Golden.Record golden : Golden.records("wqe")) {
      int expected =
          switch (golden.text("op")) {
            case "NOP" -> Mlx5.OPCODE_NOP;
            case "WRITE", "WRITE_INLINE" -> Mlx5.OPCODE_RDMA_WRITE;
            case "WRITE_IMM" -> Mlx5.OPCODE_RDMA_WRITE_IMM;
            case "READ" -> Mlx5.OPCODE_RDMA_READ;
            case "SEND" -> Mlx5.OPCODE_SEND;
            case "SEND_IMM" -> Mlx5.OPCODE_SEND_IMM;
            case "FETCH_ADD" -> Mlx5.OPCODE_ATOMIC_FA;
            case "COMPARE_SWAP" -> Mlx5.OPCODE_ATOMIC_CS;
            default -> throw new AssertionError("unknown operation in " + golden);
          };
      assertEquals(expected, Wqe.opcode(golden.bytes().get(BE64, 0)), golden::toString);
    }
  }

  @Test
  void segmentsAreReadInOrderToTheLastByte() {
    for (Golden.Record golden : Golden.records("wqe")) {
      MemorySegment bytes = golden.bytes();
      long at = Mlx5.UNIT;
      if (golden.has("raddr")) {
        assertEquals(golden.number("raddr"), bytes.get(BE64, at), golden::toString);
        assertEquals(
            (int) golden.number("rkey"), Wqe.rkey(bytes.get(BE64, at + 8)), golden::toString);
        at += Mlx5.UNIT;
      }
      if (golden.has("swap_add")) {
        assertEquals(golden.number("swap_add"), bytes.get(BE64, at), golden::toString);
        assertEquals(golden.number("compare"), bytes.get(BE64, at + 8), golden::toString);
        at += Mlx5.UNIT;
      }
      if (golden.has("inline") && golden.number("inline") > 0) {
        long head = bytes.get(BE64, at);
        assertTrue(Wqe.inline(head), golden::toString);
        assertEquals(golden.number("inline"), Wqe.inlineBytes(head), golden::toString);
        assertEquals(
            golden.text("data"),
            HexFormat.of()
                .formatHex(
                    bytes.asSlice(at + 4, Wqe.inlineBytes(head)).toArray(ValueLayout.JAVA_BYTE)),
            golden::toString);
        at += (long) Mlx5.UNIT * Wqe.inlineUnits(Wqe.inlineBytes(head));
      }
      at = dataSegments(golden, bytes, at);
      assertEquals(bytes.byteSize(), at, golden::toString);
    }
  }

  @Test
  void receivesAreReadToTheEndOfTheirList() {
    for (Golden.Record golden : Golden.records("receive")) {
      MemorySegment bytes = golden.bytes();
      long at = dataSegments(golden, bytes, 0);
      assertEquals(Mlx5.INVALID_LKEY, Wqe.lkey(bytes.get(BE64, at)), golden::toString);
      assertEquals(bytes.byteSize(), at + Mlx5.UNIT, golden::toString);
    }
  }

  private static long dataSegments(Golden.Record golden, MemorySegment bytes, long first) {
    long at = first;
    for (int i = 0; i < golden.number("segments"); i++) {
      long head = bytes.get(BE64, at);
      assertTrue(!Wqe.inline(head), golden::toString);
      assertEquals(golden.number("length" + i), Wqe.byteCount(head), golden::toString);
      assertEquals((int) golden.number("lkey" + i), Wqe.lkey(head), golden::toString);
      assertEquals(golden.number("address" + i), bytes.get(BE64, at + 8), golden::toString);
      at += Mlx5.UNIT;
    }
    return at;
  }

  @Test
  void completionsAreRead() {
    for (Golden.Record golden : Golden.records("cqe")) {
      MemorySegment cqe = golden.bytes();
      int opOwn = Cqe.opOwn(cqe, 0);
      assertEquals(golden.number("opcode"), Cqe.opcode(opOwn), golden::toString);
      assertEquals(golden.number("owner"), Cqe.owner(opOwn), golden::toString);
      assertEquals(golden.flag("solicited"), Cqe.solicited(opOwn), golden::toString);
      assertEquals(golden.text("kind").endsWith("_ERR"), Cqe.error(opOwn), golden::toString);
      assertEquals(golden.number("qpn"), Cqe.qpNumber(cqe, 0), golden::toString);
      assertEquals(golden.number("wqe_counter"), Cqe.wqeCounter(cqe, 0), golden::toString);
      assertEquals(golden.number("send_opcode"), Cqe.sendOpcode(cqe, 0), golden::toString);
      if (Cqe.error(opOwn)) {
        assertEquals(golden.number("syndrome"), Cqe.syndrome(cqe, 0), golden::toString);
        assertEquals(golden.number("vendor"), Cqe.vendorSyndrome(cqe, 0), golden::toString);
      } else {
        assertEquals(golden.number("byte_cnt"), Cqe.byteCount(cqe, 0), golden::toString);
        assertEquals((int) golden.number("imm"), Cqe.immediate(cqe, 0), golden::toString);
      }
    }
  }

  @Test
  void ownershipIsRdmaCores() {
    for (Golden.Record golden : Golden.records("owner")) {
      assertEquals(
          golden.flag("valid"),
          Cqe.valid(
              (int) golden.number("op_own"), golden.number("ci"), (int) golden.number("depth")),
          golden::toString);
    }
  }

  @Test
  void doorbellRecordsHoldSixteenBitsOfEachIndex() {
    for (Golden.Record golden : Golden.records("dbr")) {
      MemorySegment record = golden.bytes();
      assertEquals(
          golden.number("receive") & 0xffff, record.get(BE32, Mlx5.DBR_RECEIVE), golden::toString);
      assertEquals(
          golden.number("send") & 0xffff, record.get(BE32, Mlx5.DBR_SEND), golden::toString);
    }
  }

  @Test
  void doorbellWordsNameTheQueuePair() {
    for (Golden.Record golden : Golden.records("doorbell")) {
      long word = golden.bytes().get(BE64, 0);
      assertEquals(golden.number("qpn"), Wqe.qpNumber(word), golden::toString);
      assertEquals(golden.number("pi"), Wqe.index(word), golden::toString);
    }
  }
}
