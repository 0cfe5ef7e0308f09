// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.internal.cuda.PinnedPool;
import org.gpuverbs.internal.queue.Layouts;
import org.gpuverbs.internal.queue.WqeSize;
import org.gpuverbs.internal.shim.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The native form of a batch: gv_request structs, then the inline data they point to. Checks
 * nothing.
 */
final class BatchMemory {
  /** GV_OP_* of native/include/gpuverbs/queue.h. */
  static final int OP_NOP = 0;

  static final int OP_WRITE = 1;
  static final int OP_WRITE_IMMEDIATE = 2;
  static final int OP_WRITE_INLINE = 3;
  static final int OP_READ = 4;
  static final int OP_SEND = 5;
  static final int OP_SEND_IMMEDIATE = 6;
  static final int OP_COMPARE_SWAP = 7;
  static final int OP_FETCH_ADD = 8;

  private static final byte FLAG_SIGNALED = 1;

  private final MemorySegment memory;

  /** Where pinned memory for the kernels of a GPU comes from; null for plain memory. */
  private final @Nullable PinnedPool pinned;

  private long inlineEnd;

  BatchMemory(QueuePair qp, int requests, long inlineBytes) {
    this(qp, requests * Layouts.REQUEST_BYTES + inlineBytes);
    inlineEnd = requests * Layouts.REQUEST_BYTES;
  }

  /** Room for a copy. */
  BatchMemory(QueuePair qp, long bytes) {
    GpuQueue queue = qp.gpuQueue();
    if (queue == null) {
      pinned = null;
      memory = Memory.allocate(bytes);
    } else {
      pinned = queue.gpu().pinned();
      memory = Memory.at(pinned.take(bytes), bytes).fill((byte) 0);
    }
  }

  long address() {
    return memory.address();
  }

  void free() {
    if (pinned == null) {
      Memory.free(memory);
    } else {
      pinned.give(memory.address(), memory.byteSize());
    }
  }

  long bytes() {
    return memory.byteSize();
  }

  /** Whether a copy of {@code from} fits, and those who read that can read it here. */
  boolean suits(BatchMemory from) {
    return bytes() >= from.bytes() && pinned == from.pinned;
  }

  /** Copies requests and their inline data; there must be room for its {@link #bytes}. */
  void copyFrom(BatchMemory from, int requests) {
    long bytes = from.memory.byteSize();
    MemorySegment.copy(from.memory, 0, memory, 0, bytes);
    if (bytes > requests * Layouts.REQUEST_BYTES) {
      long moved = address() - from.address();
      for (int i = 0; i < requests; i++) {
        if (operation(i) == OP_WRITE_INLINE) {
          long at = at(i) + Layouts.REQUEST_INLINE_ADDRESS;
          memory.set(JAVA_LONG, at, memory.get(JAVA_LONG, at) + moved);
        }
      }
    }
  }

  /** Whether the request names memory of a certain peer. */
  boolean namesPeer(int index) {
    int op = operation(index);
    return op != OP_NOP && op != OP_SEND && op != OP_SEND_IMMEDIATE;
  }

  private static long at(int index) {
    return index * Layouts.REQUEST_BYTES;
  }

  private static long segmentAt(int index, int segment) {
    return at(index) + Layouts.REQUEST_SEGMENT + segment * Layouts.SEGMENT_BYTES;
  }

  void operation(int index, int op, int segments) {
    memory.set(JAVA_BYTE, at(index) + Layouts.REQUEST_OP, (byte) op);
    memory.set(JAVA_BYTE, at(index) + Layouts.REQUEST_SEGMENTS, (byte) segments);
  }

  int operation(int index) {
    return memory.get(JAVA_BYTE, at(index) + Layouts.REQUEST_OP);
  }

  int segments(int index) {
    return memory.get(JAVA_BYTE, at(index) + Layouts.REQUEST_SEGMENTS);
  }

  void signal(int index) {
    memory.set(JAVA_BYTE, at(index) + Layouts.REQUEST_FLAGS, FLAG_SIGNALED);
  }

  void immediate(int index, int value) {
    memory.set(JAVA_INT, at(index) + Layouts.REQUEST_IMMEDIATE, value);
  }

  void remote(int index, long address, int rkey) {
    remoteAddress(index, address);
    memory.set(JAVA_INT, at(index) + Layouts.REQUEST_RKEY, rkey);
  }

  void remoteAddress(int index, long address) {
    memory.set(JAVA_LONG, at(index) + Layouts.REQUEST_REMOTE_ADDRESS, address);
  }

  long remoteAddress(int index) {
    return memory.get(JAVA_LONG, at(index) + Layouts.REQUEST_REMOTE_ADDRESS);
  }

  void segment(int index, int segment, long address, long length, int lkey) {
    segmentAddress(index, segment, address);
    segmentLength(index, segment, length);
    memory.set(JAVA_INT, segmentAt(index, segment) + Layouts.SEGMENT_LKEY, lkey);
  }

  void segmentAddress(int index, int segment, long address) {
    memory.set(JAVA_LONG, segmentAt(index, segment) + Layouts.SEGMENT_ADDRESS, address);
  }

  long segmentAddress(int index, int segment) {
    return memory.get(JAVA_LONG, segmentAt(index, segment) + Layouts.SEGMENT_ADDRESS);
  }

  void segmentLength(int index, int segment, long length) {
    memory.set(JAVA_INT, segmentAt(index, segment) + Layouts.SEGMENT_LENGTH, (int) length);
  }

  long segmentLength(int index, int segment) {
    return Integer.toUnsignedLong(
        memory.get(JAVA_INT, segmentAt(index, segment) + Layouts.SEGMENT_LENGTH));
  }

  void atomic(int index, long compare, long swapOrAdd) {
    memory.set(JAVA_LONG, at(index) + Layouts.REQUEST_COMPARE, compare);
    memory.set(JAVA_LONG, at(index) + Layouts.REQUEST_SWAP_OR_ADD, swapOrAdd);
  }

  void inline(int index, MemorySegment data) {
    MemorySegment.copy(data, 0, memory, inlineEnd, data.byteSize());
    memory.set(JAVA_LONG, at(index) + Layouts.REQUEST_INLINE_ADDRESS, address() + inlineEnd);
    memory.set(JAVA_INT, at(index) + Layouts.REQUEST_INLINE_LENGTH, (int) data.byteSize());
    inlineEnd += data.byteSize();
  }

  int inlineLength(int index) {
    return memory.get(JAVA_INT, at(index) + Layouts.REQUEST_INLINE_LENGTH);
  }

  /** Works out and stores the request's size; returns it in basic blocks. */
  int size(int index) {
    int op = operation(index);
    int units =
        switch (op) {
          case OP_NOP, OP_SEND, OP_SEND_IMMEDIATE -> 1;
          case OP_COMPARE_SWAP, OP_FETCH_ADD -> 3;
          default -> 2;
        };
    if (op == OP_WRITE_INLINE) {
      int bytes = inlineLength(index);
      units += bytes == 0 ? 0 : WqeSize.inlineUnits(bytes);
    }
    for (int s = 0; s < segments(index); s++) {
      units += segmentLength(index, s) == 0 ? 0 : 1;
    }
    int wqebbs = WqeSize.wqebbs(units);
    memory.set(JAVA_BYTE, at(index) + Layouts.REQUEST_WQEBBS, (byte) wqebbs);
    return wqebbs;
  }

  int wqebbs(int index) {
    return memory.get(JAVA_BYTE, at(index) + Layouts.REQUEST_WQEBBS);
  }

  /** Basic blocks of so many requests. */
  int wqebbs(int from, int count) {
    int sum = 0;
    for (int i = from; i < from + count; i++) {
      sum += wqebbs(i);
    }
    return sum;
  }
}
