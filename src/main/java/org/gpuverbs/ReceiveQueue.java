// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.internal.queue.Layouts;
import org.gpuverbs.internal.queue.OneThread;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.shim.Calls;
import org.gpuverbs.internal.shim.Memory;

/** A queue pair's receives and their ids. The queue pair's gate is held around each call. */
final class ReceiveQueue {
  private final SendQueue queue;
  private final long[] ids;
  private final MemorySegment segments =
      Memory.allocate(WorkRequest.MAX_SEGMENTS * Layouts.SEGMENT_BYTES);
  private final OneThread thread;
  private long posted;

  /** Written by the one poller of the CQ; frees the slots before it. */
  private volatile long completed;

  ReceiveQueue(SendQueue queue, int depth, String what) {
    this.queue = queue;
    this.ids = new long[depth];
    this.thread = new OneThread("postReceive of " + what);
  }

  void enter() {
    thread.enter();
  }

  void exit() {
    thread.exit();
  }

  void segment(int index, LocalMemory memory) {
    long at = index * Layouts.SEGMENT_BYTES;
    segments.set(JAVA_LONG, at + Layouts.SEGMENT_ADDRESS, memory.address());
    segments.set(JAVA_INT, at + Layouts.SEGMENT_LENGTH, (int) memory.length());
    segments.set(JAVA_INT, at + Layouts.SEGMENT_LKEY, memory.region().lkey());
  }

  long post(long id, int count) {
    long done = completed;
    if (posted - done >= ids.length) {
      return Status.FULL;
    }
    // Before the NIC can see the receive, hence before its completion can be polled.
    int slot = (int) (posted & (ids.length - 1));
    ids[slot] = id;
    long index = Calls.postReceive(queue.qp(), segments.address(), count, done);
    if (index >= 0) {
      posted = index + 1;
    }
    return index;
  }

  /** The id of the receive that a CQE with that 16-bit counter completes. */
  long complete(int wqeCounter) {
    long before = completed;
    long index = before + ((wqeCounter - before) & 0xffff);
    long id = ids[(int) (index & (ids.length - 1))];
    completed = index + 1;
    return id;
  }

  void reset() {
    posted = 0;
    completed = 0;
  }

  void free() {
    Memory.free(segments);
  }
}
