// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.shim.CudaCalls;
import org.gpuverbs.internal.shim.Memory;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair of a GPU has beside its send queue: who submits to it, where its slots are
 * handed out, and which kernels may still use it.
 *
 * <p>Either kernels of the user's own submit, through the handle, and the slots are handed out on
 * the GPU; or one {@link GpuStream} does, and they are handed out here, so that a full queue is
 * known at the call and a ticket before the kernel runs.
 */
final class GpuQueue {
  /** GV_GROUP_REQUESTS of native/include/gpuverbs/queue.h: a warp. */
  private static final int GROUP = 32;

  private final QueuePair qp;
  private final Gpu gpu;
  private final SendQueue queue;
  private final int depth;

  /** gv_submit_*; loaded at creation, because loading beside a running kernel may wait for it. */
  private final long function;

  /**
   * The WQE index of each group of a batch, in pinned memory. A batch of g groups that ends at slot
   * e has its entries at e-g and on: each lies at a slot of its own or of a later group. So an
   * entry's place is taken again only after a completion that says that the group's warp has read
   * it.
   */
  private final long startsAddress;

  private final MemorySegment starts;

  /** Slots handed out here. Of the one GpuStream. */
  private long head;

  private long full;

  /** Null: nobody yet; this: kernels by the handle; else the GpuStream. */
  private volatile @Nullable Object submitter;

  /** Streams that kernels with the handle were launched on, and an event behind the last one. */
  private final Map<Long, Long> launches = new HashMap<>();

  private boolean handedOut;

  GpuQueue(QueuePair qp, Gpu gpu, SendQueue queue) {
    this.qp = qp;
    this.gpu = gpu;
    this.queue = queue;
    this.depth = qp.depth();
    this.function = gpu.builtIn(qp.policy());
    this.startsAddress = gpu.pinned().take(startsBytes());
    this.starts = Memory.at(startsAddress, startsBytes());
  }

  private long startsBytes() {
    // A batch that crosses the ring's end goes on behind it.
    return (depth + depth / GROUP + 1L) * JAVA_LONG.byteSize();
  }

  Gpu gpu() {
    return gpu;
  }

  /** Whether the slots are handed out on the GPU, where the host doesn't see it. */
  boolean byHandle() {
    return submitter == this;
  }

  /** The handle for kernels. */
  long handle() {
    takeForKernels();
    synchronized (launches) {
      handedOut = true;
    }
    return queue.deviceAddress();
  }

  /** The handle for a kernel whose launch is announced by {@link #launched}. */
  long handleForLaunch() {
    takeForKernels();
    return queue.deviceAddress();
  }

  private synchronized void takeForKernels() {
    Object now = submitter;
    if (now != null && now != this) {
      throw new IllegalStateException(
          qp
              + " belongs to "
              + now
              + ", its one submitter: create another for kernels of your own");
    }
    if (qp.options().sendQueue() != null) {
      throw new IllegalStateException(
          qp
              + " has a full send CQ, so that kernels would wait for whoever polls it: leave out"
              + " sendQueue for kernels of your own");
    }
    // I5: a warp reserves and then waits for room, which must come without what it has reserved.
    int every = qp.policy().doorbellEvery();
    int needed = Math.max(every, depth / 4) + GROUP - 1;
    if (depth < needed) {
      throw new IllegalStateException(
          qp
              + " has no room for a warp's "
              + GROUP
              + " requests beside a doorbell every "
              + every
              + ": for kernels of your own take a smaller interval or a depth of "
              + Integer.highestOneBit(2 * needed - 1));
    }
    submitter = this;
  }

  /** With the gate held. Costs one load while it stays the same. */
  void take(GpuStream stream) {
    if (submitter != stream) {
      admit(stream);
    }
  }

  private synchronized void admit(GpuStream stream) {
    Object now = submitter;
    if (stream.gpu().context() != gpu.context()) {
      throw new IllegalStateException(
          qp + " lives in the context of " + gpu + ": " + stream + " is of " + stream.gpu());
    }
    if (now == this) {
      throw new IllegalStateException(
          qp
              + " belongs to kernels that have its handle: "
              + stream
              + " may not submit to it. Create another queue pair");
    }
    if (now instanceof GpuStream other && !(other.isClosed() && other.idle())) {
      throw new IllegalStateException(
          qp + " belongs to " + other + ", its one submitter: " + stream + " may not submit to it");
    }
    submitter = stream;
  }

  /** A kernel that has the handle was launched on that stream. */
  void launched(long stream) {
    synchronized (launches) {
      long event = launches.computeIfAbsent(stream, fresh -> CudaCalls.eventCreate(gpu.handle()));
      CudaCalls.eventRecord(gpu.handle(), event, stream);
    }
  }

  /**
   * Hands out the requests' slots and enqueues their kernel. By the one GpuStream, gates held.
   * Allocates nothing.
   */
  long submit(long stream, BatchMemory requests, int count, int wqebbs) {
    int state = queue.state();
    if (state != SendQueue.STATE_READY) {
      return state == SendQueue.STATE_RESET
          ? Status.NOT_CONNECTED
          : state == SendQueue.STATE_CLOSED ? Status.CLOSED : Status.QP_ERROR;
    }
    long base = head;
    long end = base + wqebbs;
    if (end - queue.completed() > depth) {
      long result = qp.poll(end - depth - 1);
      if (result != Status.DONE) {
        full += result == Status.PENDING ? 1 : 0;
        return result == Status.PENDING ? Status.FULL : result > 0 ? Status.QP_ERROR : result;
      }
    }
    int groups = (count + GROUP - 1) / GROUP;
    long at = (end - groups) & (depth - 1);
    writeStarts(requests, count, wqebbs, base, at);
    int rc =
        CudaCalls.submit(
            queue.qp(),
            function,
            stream,
            requests.address(),
            startsAddress + at * JAVA_LONG.byteSize(),
            count,
            wqebbs,
            base);
    if (rc != 0) {
      throw launchFailed(rc);
    }
    head = end;
    return end - requests.wqebbs(count - 1);
  }

  private void writeStarts(BatchMemory requests, int count, int wqebbs, long base, long at) {
    long index = base;
    for (int from = 0; from < count; from += GROUP) {
      starts.setAtIndex(JAVA_LONG, at++, index);
      index += count == wqebbs ? GROUP : requests.wqebbs(from, Math.min(GROUP, count - from));
    }
  }

  private RdmaException launchFailed(int rc) {
    RdmaException sickness = CudaCalls.sickness(gpu.handle());
    return new RdmaException(
        "the submit kernel of " + qp + " can't be launched",
        0,
        -rc,
        0,
        sickness == null ? "is the stream still there, and of this context?" : sickness.hint(),
        sickness);
  }

  /**
   * The host's view, up to date where kernels hand out the slots: the 16-bit counter of the CQE is
   * widened from what is known to be done, which must not be 32768 behind. In GPU memory the CQE
   * itself has to be fetched.
   */
  void refresh() {
    if (byHandle() || qp.placement() == Placement.GPU) {
      queue.readDevice();
    }
  }

  /** Submits that found no room. */
  long full() {
    return full;
  }

  long head() {
    return head;
  }

  /** Whether the kernels that may have the handle are over by the deadline. */
  boolean awaitKernels(long deadline) {
    while (true) {
      boolean foreign;
      boolean done = true;
      synchronized (launches) {
        foreign = handedOut;
        for (long event : launches.values()) {
          done &= CudaCalls.eventDone(gpu.handle(), event);
        }
      }
      if (done) {
        // Of a handle that was given away nobody knows which kernels have it.
        return !foreign || gpu.awaitKernels(deadline);
      }
      if (Deadline.passed(deadline)) {
        return false;
      }
      LockSupport.parkNanos(20_000);
    }
  }

  /** Nobody submits. */
  void reset() {
    head = 0;
    full = 0;
  }

  /**
   * Frees the queue's memory; the GPU does so at its close if that takes longer than the deadline.
   */
  void destroy(long deadline) {
    boolean done =
        gpu.reaper()
            .run(
                () -> {
                  releaseHost();
                  queue.destroy();
                },
                deadline);
    if (!done) {
      Quarantine.report(qp.toString(), null);
    }
    gpu.forget(qp);
  }

  /** Somebody still uses the memory: it is freed when the GPU is closed. */
  void quarantine() {
    gpu.park(
        () -> {
          releaseHost();
          queue.destroy();
        });
    gpu.forget(qp);
  }

  private void releaseHost() {
    gpu.pinned().give(startsAddress, startsBytes());
    synchronized (launches) {
      launches.values().forEach(event -> CudaCalls.eventDestroy(gpu.handle(), event));
      launches.clear();
    }
  }
}
