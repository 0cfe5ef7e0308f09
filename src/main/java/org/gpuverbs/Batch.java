// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.OneThread;
import org.jspecify.annotations.Nullable;

/**
 * Requests, checked and laid out once, to be submitted to their queue pair as often as wanted: one
 * downcall each time, and no allocation. Addresses, lengths and immediates can be changed in place.
 *
 * <p>One thread at a time, which is checked. While lane threads still read a submitted batch it
 * can't be changed: await its ticket first. A batch belongs to its queue pair, which closes it at
 * the latest.
 */
public final class Batch implements AutoCloseable {
  /** Which requests of a batch ask for a completion. */
  public enum Signal {
    /** The last one; it completes after all others. Fewer completions, higher rate. */
    LAST,
    /** Each one, so that each request's progress shows soon. */
    EVERY
  }

  private final QueuePair queuePair;
  private final BatchMemory memory;
  private final int size;

  /**
   * Per request: the local regions, three each, and the range that the remote address may move in.
   */
  private final @Nullable MemoryRegion[] regions;

  private final @Nullable RemoteMemory[] remotes;
  private final OneThread thread = new OneThread("this batch");
  private int wqebbs;
  private volatile boolean closed;
  private @Nullable Initiator holder;
  private long heldTicket;

  Batch(
      QueuePair queuePair,
      BatchMemory memory,
      int size,
      int wqebbs,
      @Nullable MemoryRegion[] regions,
      @Nullable RemoteMemory[] remotes) {
    this.queuePair = queuePair;
    this.memory = memory;
    this.size = size;
    this.wqebbs = wqebbs;
    this.regions = regions;
    this.remotes = remotes;
  }

  /**
   * Builds a batch whose last request asks for a completion.
   *
   * @param queuePair where it will be submitted; need not be connected yet
   * @param requests one or more, in the order in which they shall run
   * @return the batch, to be closed
   * @throws IllegalArgumentException naming the request that is wrong: memory of another NIC, a
   *     region without the access, a message longer than the peer's range or the port's maximum, an
   *     unaligned atomic, too much inline data; or that the batch is empty or needs more basic
   *     blocks than the queue has
   * @throws IllegalStateException if the queue pair or a region is closed
   */
  public static Batch of(QueuePair queuePair, WorkRequest... requests) {
    return of(queuePair, Signal.LAST, List.of(requests));
  }

  /**
   * Builds a batch.
   *
   * @param queuePair where it will be submitted; need not be connected yet
   * @param signal which requests ask for a completion; with a full send CQ all do
   * @param requests one or more, in the order in which they shall run
   * @return the batch, to be closed
   * @throws IllegalArgumentException as {@link #of(QueuePair, WorkRequest...)}
   * @throws IllegalStateException as {@link #of(QueuePair, WorkRequest...)}
   */
  public static Batch of(QueuePair queuePair, Signal signal, List<? extends WorkRequest> requests) {
    return queuePair.adopt(() -> new BatchBuilder(queuePair, signal).build(requests));
  }

  /**
   * Where it will be submitted.
   *
   * @return the queue pair
   */
  public QueuePair queuePair() {
    return queuePair;
  }

  /**
   * How many requests.
   *
   * @return 1 or more
   */
  public int size() {
    return size;
  }

  /**
   * How much of the send queue it takes.
   *
   * @return basic blocks of 64 bytes
   */
  public int wqebbs() {
    return wqebbs;
  }

  /**
   * Moves a request's remote side within the {@link RemoteMemory} that it was built with. Allocates
   * nothing.
   *
   * @param index which request, 0..{@link #size()}-1
   * @param address the new first byte
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request, or the message would leave the
   *     range
   * @throws IllegalArgumentException if the request has no remote side, or an atomic would be
   *     unaligned
   * @throws IllegalStateException if the batch is closed, or used by another thread or by lanes
   */
  public Batch remoteAddress(int index, long address) {
    enterToChange(index);
    try {
      RemoteMemory range = remotes[index];
      if (range == null) {
        throw new IllegalArgumentException("request " + index + " has no remote side");
      }
      if (BatchBuilder.isAtomic(memory.operation(index))) {
        BatchBuilder.requireAligned(index, "remote", address);
      }
      BatchBuilder.requireInside(index, range, address, length(index));
      memory.remoteAddress(index, address);
      return this;
    } finally {
      thread.exit();
    }
  }

  /**
   * Moves a local segment within its memory region. Allocates nothing.
   *
   * @param index which request, 0..{@link #size()}-1
   * @param segment which of its segments, from 0
   * @param address the new first byte
   * @return this
   * @throws IndexOutOfBoundsException if there is no such segment, or it would leave the region
   * @throws IllegalArgumentException if an atomic would be unaligned
   * @throws IllegalStateException if the batch is closed, or used by another thread or by lanes
   */
  public Batch localAddress(int index, int segment, long address) {
    enterToChange(index);
    try {
      MemoryRegion region = region(index, segment);
      if (BatchBuilder.isAtomic(memory.operation(index))) {
        BatchBuilder.requireAligned(index, "local", address);
      }
      BatchBuilder.requireInside(index, region, address, memory.segmentLength(index, segment));
      memory.segmentAddress(index, segment, address);
      return this;
    } finally {
      thread.exit();
    }
  }

  /**
   * Changes a local segment's length. Allocates nothing.
   *
   * @param index which request, 0..{@link #size()}-1
   * @param segment which of its segments, from 0
   * @param length bytes, 0..2<sup>30</sup>
   * @return this
   * @throws IndexOutOfBoundsException if there is no such segment, or it or the message would leave
   *     its range
   * @throws IllegalArgumentException if the request is an atomic, the message gets longer than the
   *     port's maximum, or the batch larger than the queue
   * @throws IllegalStateException if the batch is closed, or used by another thread or by lanes
   */
  public Batch length(int index, int segment, long length) {
    enterToChange(index);
    try {
      MemoryRegion region = region(index, segment);
      if (BatchBuilder.isAtomic(memory.operation(index))) {
        throw new IllegalArgumentException("request " + index + " is an atomic: it has 8 bytes");
      }
      long before = memory.segmentLength(index, segment);
      long message = length(index) - before + length;
      BatchBuilder.requireSegmentLength(index, length);
      BatchBuilder.requireInside(index, region, memory.segmentAddress(index, segment), length);
      BatchBuilder.requireMessage(index, message, queuePair.nic().maxMessageBytes());
      RemoteMemory range = remotes[index];
      if (range != null) {
        BatchBuilder.requireInside(index, range, memory.remoteAddress(index), message);
      }
      int blocksBefore = memory.wqebbs(index);
      memory.segmentLength(index, segment, length);
      int blocks = wqebbs - blocksBefore + memory.size(index);
      if (blocks > queuePair.depth()) {
        memory.segmentLength(index, segment, before);
        memory.size(index);
        throw BatchBuilder.tooLarge(blocks, queuePair.depth());
      }
      wqebbs = blocks;
      return this;
    } finally {
      thread.exit();
    }
  }

  /**
   * Changes a request's immediate. Allocates nothing.
   *
   * @param index which request, 0..{@link #size()}-1
   * @param immediate what the peer's receive completion carries
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request
   * @throws IllegalArgumentException if it carries no immediate
   * @throws IllegalStateException if the batch is closed, or used by another thread or by lanes
   */
  public Batch immediate(int index, int immediate) {
    enterToChange(index);
    try {
      int op = memory.operation(index);
      if (op != BatchMemory.OP_WRITE_IMMEDIATE && op != BatchMemory.OP_SEND_IMMEDIATE) {
        throw new IllegalArgumentException("request " + index + " carries no immediate");
      }
      memory.immediate(index, immediate);
      return this;
    } finally {
      thread.exit();
    }
  }

  private long length(int index) {
    int op = memory.operation(index);
    if (op == BatchMemory.OP_WRITE_INLINE) {
      return memory.inlineLength(index);
    }
    long sum = 0;
    for (int s = 0; s < memory.segments(index); s++) {
      sum += memory.segmentLength(index, s);
    }
    return sum;
  }

  private MemoryRegion region(int index, int segment) {
    java.util.Objects.checkIndex(segment, memory.segments(index));
    MemoryRegion region = regions[index * WorkRequest.MAX_SEGMENTS + segment];
    return java.util.Objects.requireNonNull(region);
  }

  private void enterToChange(int index) {
    java.util.Objects.checkIndex(index, size);
    enter();
    if (holder != null && !settled()) {
      Initiator lanes = holder;
      thread.exit();
      throw new IllegalStateException(
          "this batch is still being read by " + lanes + ": await its ticket before changing it");
    }
  }

  /** Whether no lane reads the memory any more. */
  private boolean settled() {
    Initiator lanes = holder;
    if (lanes == null) {
      return true;
    }
    if (queuePair.isDone(heldTicket) || Holders.idle(lanes, queuePair)) {
      holder = null;
      return true;
    }
    return false;
  }

  long address() {
    return memory.address();
  }

  /** Whether all its data is inline, so that nothing is read after submit. */
  boolean sourceless() {
    for (MemoryRegion region : regions) {
      if (region != null) {
        return false;
      }
    }
    return true;
  }

  /** Between enter and exit. */
  BatchMemory memory() {
    return memory;
  }

  void enter() {
    thread.enter();
    if (closed) {
      thread.exit();
      throw new IllegalStateException("this batch is closed");
    }
  }

  void exit() {
    thread.exit();
  }

  /** Lanes may share a batch that is in flight only with themselves. Between enter and exit. */
  void requireHolder(Initiator lanes) {
    if (holder != null && holder != lanes && !settled()) {
      throw new IllegalStateException(
          "this batch is still being read by " + holder + ": await its ticket, or build another");
    }
  }

  /** Between enter and exit. */
  void heldBy(Initiator lanes, long ticket) {
    holder = lanes;
    heldTicket = ticket;
  }

  /**
   * Frees the batch. What was submitted still completes: if lanes read the batch for longer than
   * the queue pair's close timeout, its memory is freed when they are closed. Closing twice is
   * fine.
   *
   * @throws IllegalStateException if another thread is using it
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    thread.enter();
    boolean first = !closed;
    closed = true;
    thread.exit();
    if (first) {
      queuePair.forget(this);
      free(Deadline.after(queuePair.closeTimeout()));
    }
  }

  /** By the queue pair, whose gate is closed: waits until the user of this batch is out. */
  void closeWithParent(long deadline) {
    while (!closed) {
      try {
        thread.enter();
      } catch (IllegalStateException e) {
        if (Deadline.passed(deadline)) {
          Quarantine.report("a batch of " + queuePair, e);
          return;
        }
        LockSupport.parkNanos(20_000);
        continue;
      }
      boolean first = !closed;
      closed = true;
      thread.exit();
      if (first) {
        free(deadline);
      }
    }
  }

  private void free(long deadline) {
    Initiator lanes = holder;
    while (!settled()) {
      if (Deadline.passed(deadline)) {
        if (lanes != null) {
          Holders.adopt(lanes, memory);
        }
        return;
      }
      LockSupport.parkNanos(20_000);
    }
    memory.free();
  }
}
