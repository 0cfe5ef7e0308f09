// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A queue pair made by plain DEVX calls, without the library's own code: proves that the stand-in
 * and the software NIC behind it move bytes.
 */
final class RawDevx implements AutoCloseable {
  static final int DEPTH = 64;
  static final int BYTES = 1 << 16;
  private static final int PAGE = 4096;
  private static final int BLOCK = 8 * PAGE;
  private static final int CQ = 4 * PAGE;
  private static final int DBR = 5 * PAGE;
  private static final JavaBytes BE = new JavaBytes();
  private static final int LOCAL_WRITE = 1;
  private static final int ALL_ACCESS = 15;
  private static final int GID_INDEX = 3;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment context;
  private final MemorySegment pd;
  private final MemorySegment umem;
  private final MemorySegment uar;
  private final MemorySegment cq;
  private final MemorySegment qp;
  private final MemorySegment mr;
  private final MemorySegment block = arena.allocate(BLOCK, PAGE);
  final MemorySegment memory = arena.allocate(BYTES, PAGE);
  final int number;
  final int key;
  private int posted;

  private static final class JavaBytes {
    final java.lang.foreign.ValueLayout.OfInt i = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    final java.lang.foreign.ValueLayout.OfLong l = JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
  }

  RawDevx() {
    MemorySegment list = pointer("ibv_get_device_list", MemorySegment.NULL);
    MemorySegment device = list.reinterpret(8).get(ADDRESS, 0);
    MemorySegment attr = arena.allocate(16, 8);
    attr.set(JAVA_INT, 0, 1);
    context = pointer("mlx5dv_open_device", device, attr);
    invoke(null, "ibv_free_device_list", list);
    pd = pointer("ibv_alloc_pd", context);
    mr = pointer("ibv_reg_mr", pd, memory, memory.byteSize(), ALL_ACCESS);
    key = mr.reinterpret(48).get(JAVA_INT, 36);
    MemorySegment in = arena.allocate(48, 8);
    in.set(ADDRESS, 0, block);
    in.set(JAVA_LONG, 8, BLOCK);
    in.set(JAVA_INT, 16, LOCAL_WRITE);
    in.set(JAVA_LONG, 24, PAGE);
    umem = pointer("mlx5dv_devx_umem_reg_ex", context, in);
    uar = pointer("mlx5dv_devx_alloc_uar", context, 1).reinterpret(40);
    cq = createCq();
    int cqn = (int) answer.get("cqn");
    qp = createQp(cqn);
    number = (int) answer.get("qpn");
  }

  private Mailbox answer;

  private MemorySegment createCq() {
    block.asSlice(CQ, 64).fill((byte) 0xff);
    MemorySegment eqn = arena.allocate(4);
    require(call("mlx5dv_devx_query_eqn", context, 0, eqn));
    Mailbox in = Mailbox.of(arena, "create_cq_in").set("opcode", 0x400);
    in.set("cq_umem_valid", 1).set("cq_umem_id", umemId()).set("cq_umem_offset", CQ);
    in.inside("cq_context", "cqc")
        .set("cc", 1)
        .set("oi", 1)
        .set("uar_page", uarPage())
        .set("c_eqn_or_apu_element", eqn.get(JAVA_INT, 0))
        .set("dbr_umem_valid", 1)
        .set("dbr_umem_id", umemId())
        .set("dbr_addr", DBR);
    return create(in, "create_cq_out");
  }

  private MemorySegment createQp(int cqn) {
    Mailbox in = Mailbox.of(arena, "create_qp_in").set("opcode", 0x500);
    in.set("wq_umem_valid", 1).set("wq_umem_id", umemId());
    MemorySegment pdn = arena.allocate(16, 8);
    MemorySegment objects = arena.allocate(7 * 16, 8);
    objects.set(ADDRESS, 96, pd);
    objects.set(ADDRESS, 104, pdn);
    require(call("mlx5dv_init_obj", objects, 1L << 6));
    in.inside("qpc", "qpc")
        .set("pm_state", 3)
        .set("pd", pdn.get(JAVA_INT, 0))
        .set("uar_page", uarPage())
        .set("log_sq_size", 6)
        .set("rq_type", 3)
        .set("cqn_snd", cqn)
        .set("dbr_umem_valid", 1)
        .set("dbr_umem_id", umemId())
        .set("dbr_addr", DBR + 64);
    return create(in, "create_qp_out");
  }

  private MemorySegment create(Mailbox in, String out) {
    answer = Mailbox.of(arena, out);
    return pointer(
        "mlx5dv_devx_obj_create",
        context,
        in.bytes,
        in.bytes.byteSize(),
        answer.bytes,
        answer.bytes.byteSize());
  }

  private int umemId() {
    return umem.reinterpret(4).get(JAVA_INT, 0);
  }

  private int uarPage() {
    return uar.get(JAVA_INT, 16);
  }

  private int modify(Mailbox in) {
    answer = Mailbox.of(arena, "rst2init_qp_out");
    return call(
        "mlx5dv_devx_obj_modify",
        qp,
        in.bytes,
        in.bytes.byteSize(),
        answer.bytes,
        answer.bytes.byteSize());
  }

  void connect(RawDevx peer, int sendPsn, int receivePsn) {
    Mailbox init = Mailbox.of(arena, "rst2init_qp_in").set("opcode", 0x502).set("qpn", number);
    init.inside("qpc", "qpc")
        .set("pm_state", 3)
        .set("rwe", 1)
        .set("rre", 1)
        .inside("primary_address_path", "ads")
        .set("vhca_port_num", 1);
    require(modify(init));
    MemorySegment gid = arena.allocate(16, 8);
    require(call("ibv_query_gid", context, (byte) 1, GID_INDEX, gid));
    Mailbox rtr = Mailbox.of(arena, "init2rtr_qp_in").set("opcode", 0x503).set("qpn", number);
    rtr.inside("qpc", "qpc")
        .set("mtu", 5)
        .set("log_msg_max", 30)
        .set("remote_qpn", peer.number)
        .set("next_rcv_psn", receivePsn)
        .inside("primary_address_path", "ads")
        .set("src_addr_index", GID_INDEX)
        .set("hop_limit", 64)
        .set("rmac_47_32", 0x0c42)
        .set("rmac_31_0", 0xa10000a0L)
        .copy("rgid_rip", gid);
    require(modify(rtr));
    Mailbox rts = Mailbox.of(arena, "rtr2rts_qp_in").set("opcode", 0x504).set("qpn", number);
    rts.inside("qpc", "qpc")
        .set("retry_count", 1)
        .set("next_send_psn", sendPsn)
        .inside("primary_address_path", "ads")
        .set("ack_timeout", 14);
    require(modify(rts));
  }

  int state() {
    Mailbox in = Mailbox.of(arena, "query_qp_in").set("opcode", 0x50b).set("qpn", number);
    Mailbox out = Mailbox.of(arena, "query_qp_out");
    require(
        call(
            "mlx5dv_devx_obj_query",
            qp,
            in.bytes,
            in.bytes.byteSize(),
            out.bytes,
            out.bytes.byteSize()));
    return (int) out.inside("qpc", "qpc").get("state");
  }

  void reset() {
    Mailbox in = Mailbox.of(arena, "qp_2rst_in").set("opcode", 0x50a).set("qpn", number);
    require(modify(in));
  }

  /** Writes {@code length} bytes to the peer's memory by one signalled RDMA WRITE; its index. */
  int write(int from, RawDevx peer, int to, int length, int rkey) {
    MemorySegment wqe = block.asSlice((posted & (DEPTH - 1)) * 64L, 64);
    wqe.fill((byte) 0);
    wqe.set(BE.i, 0, posted << 8 | 0x08);
    wqe.set(BE.i, 4, number << 8 | 3);
    wqe.set(JAVA_BYTE, 11, (byte) 0x08);
    wqe.set(BE.l, 16, peer.memory.address() + to);
    wqe.set(BE.i, 24, rkey);
    wqe.set(BE.i, 32, length);
    wqe.set(BE.i, 36, key);
    wqe.set(BE.l, 40, memory.address() + from);
    int index = posted++;
    BE.i.varHandle().setRelease(block, DBR + 64 + 4L, posted & 0xffff);
    MemorySegment register = uar.get(ADDRESS, 0).reinterpret(8);
    BE.l.varHandle().setRelease(register, 0L, (long) (posted & 0xffff) << 40 | (long) number << 8);
    return index;
  }

  /** Waits for the completion of a WQE or an error; the CQE's opcode. */
  int await(int index) {
    long deadline = System.nanoTime() + 20_000_000_000L;
    while (true) {
      int opcode = Byte.toUnsignedInt(block.get(JAVA_BYTE, CQ + 63L)) >>> 4;
      int counter =
          Short.toUnsignedInt(
              Short.reverseBytes(block.get(java.lang.foreign.ValueLayout.JAVA_SHORT, CQ + 60L)));
      if (opcode == 13 || (opcode != 15 && counter == (index & 0xffff))) {
        return opcode;
      }
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("WQE " + index + " did not complete");
      }
      Thread.onSpinWait();
    }
  }

  int syndrome() {
    return Byte.toUnsignedInt(block.get(JAVA_BYTE, CQ + 55L));
  }

  private void require(int errno) {
    if (errno != 0) {
      throw new AssertionError("errno " + errno + ": " + StandIn.said());
    }
  }

  private static MemorySegment pointer(String name, Object... arguments) {
    MemorySegment made = (MemorySegment) invoke(ADDRESS, name, arguments);
    if (made.address() == 0) {
      throw new AssertionError(name + ": " + StandIn.said());
    }
    return made;
  }

  private static int call(String name, Object... arguments) {
    return (int) invoke(JAVA_INT, name, arguments);
  }

  private static Object invoke(MemoryLayout result, String name, Object... arguments) {
    SymbolLookup library =
        SymbolLookup.libraryLookup(
            name.startsWith("ibv") ? "libibverbs.so.1" : "libmlx5.so.1", Arena.global());
    MemoryLayout[] layouts = new MemoryLayout[arguments.length];
    for (int i = 0; i < arguments.length; i++) {
      layouts[i] =
          switch (arguments[i]) {
            case Long any -> JAVA_LONG;
            case Integer any -> JAVA_INT;
            case Byte any -> JAVA_BYTE;
            default -> ADDRESS;
          };
    }
    try {
      return Linker.nativeLinker()
          .downcallHandle(
              library.findOrThrow(name),
              result == null
                  ? FunctionDescriptor.ofVoid(layouts)
                  : FunctionDescriptor.of(result, layouts))
          .invokeWithArguments(arguments);
    } catch (Throwable t) {
      throw new AssertionError(name, t);
    }
  }

  byte[] bytes(int offset, int length) {
    return memory.asSlice(offset, length).toArray(JAVA_BYTE);
  }

  void fill(int offset, String text) {
    MemorySegment.copy(
        MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)),
        0,
        memory,
        offset,
        text.length());
  }

  @Override
  public void close() {
    require(call("mlx5dv_devx_obj_destroy", qp));
    require(call("mlx5dv_devx_obj_destroy", cq));
    require(call("mlx5dv_devx_umem_dereg", umem));
    invoke(null, "mlx5dv_devx_free_uar", uar);
    require(call("ibv_dereg_mr", mr));
    require(call("ibv_dealloc_pd", pd));
    require(call("ibv_close_device", context));
    arena.close();
  }
}
