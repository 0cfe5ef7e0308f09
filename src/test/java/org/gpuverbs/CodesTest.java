// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gpuverbs.internal.ffi.Native;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.softnic.SoftMr;
import org.gpuverbs.internal.wire.Mlx5;
import org.junit.jupiter.api.Test;

/** The numbers that the public types write down are the header's. */
class CodesTest {
  @Test
  void statuses() {
    assertEquals(Native.GV_OK(), Status.DONE);
    assertEquals(Native.GV_FULL(), Status.FULL);
    assertEquals(Native.GV_NOT_CONNECTED(), Status.NOT_CONNECTED);
    assertEquals(Native.GV_QP_ERROR(), Status.QP_ERROR);
    assertEquals(Native.GV_CLOSED(), Status.CLOSED);
    assertEquals(Native.GV_TIMEOUT(), Status.TIMEOUT);
    assertEquals(Native.GV_PENDING(), Status.PENDING);
    assertEquals(Native.GV_BUSY(), Status.BUSY);
  }

  @Test
  void handOversAndFenceModes() {
    assertEquals(Native.GV_HANDOVER_CLASSIC(), HandOver.CLASSIC.code());
    assertEquals(Native.GV_HANDOVER_TURN_CAS(), HandOver.TURN.code());
    assertEquals(Native.GV_HANDOVER_TURN_LDST(), HandOver.TURN_LOAD_STORE.code());
    assertEquals(Native.GV_HANDOVER_BITMAP(), HandOver.BITMAP.code());
    assertEquals(Native.GV_HANDOVER_EXCLUSIVE(), HandOver.EXCLUSIVE.code());
    assertEquals(Native.GV_HANDOVER_UNCHECKED_NOLOCK(), HandOver.CLASSIC_WITHOUT_LOCK.code());
    assertEquals(Native.GV_HANDOVER_UNCHECKED_RELAXED(), HandOver.TURN_RELAXED.code());
    assertEquals(Native.GV_FENCE_SYSTEM(), FenceMode.SYSTEM.code());
    assertEquals(Native.GV_FENCE_DEVICE(), FenceMode.DEVICE.code());
  }

  @Test
  void states() {
    assertEquals(Native.GV_STATE_RESET(), SendQueue.STATE_RESET);
    assertEquals(Native.GV_STATE_RTS(), SendQueue.STATE_READY);
    assertEquals(Native.GV_STATE_ERROR(), SendQueue.STATE_ERROR);
    assertEquals(Native.GV_STATE_CLOSED(), SendQueue.STATE_CLOSED);
  }

  @Test
  void operations() {
    assertEquals(Native.GV_OP_NOP(), BatchMemory.OP_NOP);
    assertEquals(Native.GV_OP_WRITE(), BatchMemory.OP_WRITE);
    assertEquals(Native.GV_OP_WRITE_IMM(), BatchMemory.OP_WRITE_IMMEDIATE);
    assertEquals(Native.GV_OP_WRITE_INLINE(), BatchMemory.OP_WRITE_INLINE);
    assertEquals(Native.GV_OP_READ(), BatchMemory.OP_READ);
    assertEquals(Native.GV_OP_SEND(), BatchMemory.OP_SEND);
    assertEquals(Native.GV_OP_SEND_IMM(), BatchMemory.OP_SEND_IMMEDIATE);
    assertEquals(Native.GV_OP_COMPARE_SWAP(), BatchMemory.OP_COMPARE_SWAP);
    assertEquals(Native.GV_OP_FETCH_ADD(), BatchMemory.OP_FETCH_ADD);
  }

  @Test
  void limits() {
    assertEquals(Native.GV_MIN_DEPTH(), QueuePairOptions.MIN_DEPTH);
    assertEquals(Native.GV_MAX_DEPTH(), QueuePairOptions.MAX_DEPTH);
    assertEquals(Native.GV_MAX_SEGMENTS(), WorkRequest.MAX_SEGMENTS);
    assertEquals(Native.GV_GROUP_REQUESTS(), QueuePairMemory.GROUP_REQUESTS);
    assertEquals(Mlx5.CQE_SIZE, Native.GV_CQE_SIZE());
  }

  @Test
  void accessBits() {
    assertEquals(SoftMr.LOCAL_WRITE, Access.LOCAL_WRITE.bit());
    assertEquals(SoftMr.REMOTE_WRITE, Access.REMOTE_WRITE.bit());
    assertEquals(SoftMr.REMOTE_READ, Access.REMOTE_READ.bit());
    assertEquals(SoftMr.REMOTE_ATOMIC, Access.REMOTE_ATOMIC.bit());
  }
}
