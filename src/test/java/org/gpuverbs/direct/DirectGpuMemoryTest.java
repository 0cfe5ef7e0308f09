// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.gpuverbs.Gpu;
import org.gpuverbs.Placement;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.QueuePairState;
import org.gpuverbs.Status;
import org.gpuverbs.Syndrome;
import org.gpuverbs.internal.queue.Layouts;
import org.gpuverbs.internal.shim.Calls;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Queues in GPU memory by path DIRECT, with a kernel's part played by the same submit path on the
 * CPU: the tests' driver has its "GPU memory" where both reach it.
 */
@OnStandIn
@Timeout(120)
class DirectGpuMemoryTest {
  private static final int MANY = 70_400;
  private static final int NOPS = 32;
  private static final byte SIGNALED = 1;
  private static final byte WRITE_INLINE = 3;

  /** A batch of NOPs; the last is signalled. */
  private static MemorySegment nops(Arena arena) {
    MemorySegment requests = arena.allocate(NOPS * Layouts.REQUEST_BYTES, 64);
    for (int i = 0; i < NOPS; i++) {
      requests.set(JAVA_BYTE, i * Layouts.REQUEST_BYTES + Layouts.REQUEST_WQEBBS, (byte) 1);
    }
    requests.set(JAVA_BYTE, (NOPS - 1) * Layouts.REQUEST_BYTES + Layouts.REQUEST_FLAGS, SIGNALED);
    return requests;
  }

  private static long await(QueuePair qp, long ticket) {
    long deadline = System.nanoTime() + Ends.TIMEOUT.toNanos();
    long status;
    while ((status = qp.poll(ticket)) == Status.PENDING) {
      assertTrue(System.nanoTime() - deadline < 0, "ticket " + ticket + " stays pending");
      Thread.onSpinWait();
    }
    return status;
  }

  private static QueuePair inGpuMemory(StandInNic one, Gpu gpu) {
    QueuePair qp =
        one.nic.queuePair(
            QueuePairOptions.builder().depth(256).gpu(gpu).placement(Placement.GPU).build());
    Ends.connect(qp, one.nic.queuePair(QueuePairOptions.defaults()));
    return qp;
  }

  @Test
  void theHostFollowsAQueueThatItCannotReadAcrossTheWrap() {
    try (StandInNic one = new StandInNic();
        Gpu gpu = Gpu.open(0);
        Arena arena = Arena.ofConfined()) {
      QueuePair qp = inGpuMemory(one, gpu);
      MemorySegment requests = nops(arena);
      long handle = qp.deviceHandle();
      long ticket = -1;
      for (int n = 0; n < MANY; n += NOPS) {
        while ((ticket = Calls.submit(handle, requests.address(), NOPS, NOPS)) == Status.FULL) {
          Thread.onSpinWait();
        }
        assertEquals(n + NOPS - 1, ticket);
      }
      assertEquals(Status.DONE, await(qp, ticket));
      assertEquals(MANY, qp.completed());
      assertEquals(MANY, qp.counters().submitted());
      qp.reset();
      assertEquals(0, qp.completed());
      one.nic.close();
    }
  }

  @Test
  void theHostSeesAnErrorInAQueueThatItCannotRead() {
    try (StandInNic one = new StandInNic();
        Gpu gpu = Gpu.open(0);
        Arena arena = Arena.ofConfined()) {
      QueuePair qp = inGpuMemory(one, gpu);
      MemorySegment requests = nops(arena);
      // To key 0, which nobody gave.
      requests.set(JAVA_BYTE, Layouts.REQUEST_OP, WRITE_INLINE);
      requests.set(JAVA_INT, Layouts.REQUEST_INLINE_LENGTH, 8);
      requests.set(JAVA_LONG, Layouts.REQUEST_INLINE_ADDRESS, requests.address());
      long handle = qp.deviceHandle();
      long ticket = Calls.submit(handle, requests.address(), 1, 1);
      assertEquals(Syndrome.REMOTE_ACCESS, await(qp, ticket));
      assertEquals(QueuePairState.ERROR, qp.state());
      assertEquals(ticket, qp.errorTicket());
      one.nic.close();
    }
  }

  @Test
  void aFullSendQueueAndReceivesAreRefusedInGpuMemory() {
    try (StandInNic one = new StandInNic();
        Gpu gpu = Gpu.open(0)) {
      QueuePairOptions.Builder options =
          QueuePairOptions.builder()
              .gpu(gpu)
              .placement(Placement.GPU)
              .sendQueue(one.nic.completionQueue(1024));
      IllegalArgumentException e = assertThrows(IllegalArgumentException.class, options::build);
      assertTrue(e.getMessage().contains("leave out sendQueue"), e.getMessage());
      one.nic.close();
    }
  }
}
