// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.gpuverbs.internal.wire.Mlx5;

/** One QP with its memory and a registered buffer, and what its owner does with them. */
final class Side {
  static final int DEPTH = 64;
  static final int BUFFER = 64 * 1024;
  private static final ValueLayout.OfInt BE32 =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong BE64 =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

  final SoftNic nic;
  final QueueMemory memory;
  final CqRing sendCq;
  final CqRing receiveCq;
  final SoftQp qp;
  final MemorySegment buffer;
  final SoftMr mr;
  long pi;
  long receivePi;

  /** Collapsed unless {@code full}; a receive queue of DEPTH. */
  Side(SoftNic nic, Arena arena, boolean full) {
    this(nic, arena, DEPTH, DEPTH, full ? new CqRing(nic, arena, 2 * DEPTH) : null);
  }

  Side(SoftNic nic, Arena arena, int depth, int receiveDepth, CqRing sendCq) {
    this.nic = nic;
    memory = new QueueMemory(arena, depth, receiveDepth);
    this.sendCq = sendCq;
    receiveCq = receiveDepth == 0 ? null : new CqRing(nic, arena, 2 * receiveDepth);
    qp =
        nic.createQp(
            memory.attr(
                sendCq == null ? null : sendCq.cq, receiveCq == null ? null : receiveCq.cq));
    buffer = arena.allocate(BUFFER, 64);
    mr = nic.register(buffer, SoftMr.ALL_ACCESS);
  }

  /** The owner's part of a reset: gv_qp_reset does the same. */
  void reset() {
    qp.reset();
    memory.clear();
    pi = 0;
    receivePi = 0;
  }

  /** Writes a WQE without telling anybody; its index. */
  long post(WqeBytes wqe) {
    long index = pi;
    wqe.writeTo(memory.ring, memory.depth, index, qp.number());
    pi += wqe.wqebbs();
    return index;
  }

  void writeDbr() {
    memory.dbr.set(BE32, Mlx5.DBR_SEND, (int) (pi & 0xffff));
  }

  void writeDoorbell(long word) {
    doorbellWord(memory.doorbell, word);
  }

  /** As a producer does: all it stored before is seen before the doorbell. */
  static void doorbellWord(MemorySegment doorbell, long word) {
    BE64.varHandle().setRelease(doorbell, 0L, word);
  }

  /** The doorbell word that carries the producer index. */
  long doorbell() {
    return (pi & 0xffff) << 40 | (long) qp.number() << 8;
  }

  void ring() {
    writeDbr();
    writeDoorbell(doorbell());
  }

  long send(WqeBytes wqe) {
    long index = post(wqe);
    ring();
    return index;
  }

  /** Sends it and waits for its completion: collapsed CQ. */
  Completion execute(WqeBytes wqe) {
    return await(send(wqe));
  }

  boolean completed(long index) {
    Completion cqe = Completion.read(memory.cqe, 0);
    return cqe.opcode() >= Mlx5.CQE_REQ_ERR
        ? cqe.opcode() != Mlx5.CQE_INVALID
        : (short) (cqe.wqeCounter() - (int) index) >= 0;
  }

  Completion await(long index) {
    Await.until("completion of WQE " + index, () -> completed(index));
    return Completion.read(memory.cqe, 0);
  }

  /** Posts a receive into the buffer: pairs of offset and length. */
  long receive(int... pieces) {
    long[] addresses = new long[pieces.length / 2];
    int[] lengths = new int[pieces.length / 2];
    int[] keys = new int[pieces.length / 2];
    for (int i = 0; i < addresses.length; i++) {
      addresses[i] = mr.address() + pieces[2 * i];
      lengths[i] = pieces[2 * i + 1];
      keys[i] = mr.lkey();
    }
    return receive(addresses, lengths, keys);
  }

  long receive(long[] addresses, int[] lengths, int[] keys) {
    long at = 64 * (receivePi & (memory.receiveDepth - 1));
    for (int i = 0; i < 4; i++) {
      boolean used = i < addresses.length;
      memory.receiveRing.set(BE32, at + 16L * i, used ? lengths[i] : 0);
      memory.receiveRing.set(BE32, at + 16L * i + 4, used ? keys[i] : Mlx5.INVALID_LKEY);
      memory.receiveRing.set(BE64, at + 16L * i + 8, used ? addresses[i] : 0);
    }
    long index = receivePi++;
    BE32.varHandle().setRelease(memory.dbr, (long) Mlx5.DBR_RECEIVE, (int) (receivePi & 0xffff));
    return index;
  }

  void fill(long offset, byte[] data) {
    MemorySegment.copy(data, 0, buffer, ValueLayout.JAVA_BYTE, offset, data.length);
  }

  byte[] bytes(long offset, int length) {
    return buffer.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
  }

  long word(long offset) {
    return buffer.get(ValueLayout.JAVA_LONG, offset);
  }

  void word(long offset, long value) {
    buffer.set(ValueLayout.JAVA_LONG, offset, value);
  }
}
