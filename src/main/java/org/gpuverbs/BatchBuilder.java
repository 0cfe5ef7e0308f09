// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.List;
import org.gpuverbs.Batch.Signal;
import org.jspecify.annotations.Nullable;

/** Checks requests against their queue pair and lays them out. */
final class BatchBuilder {
  private static final long ATOMIC_BYTES = 8;

  private final QueuePair queuePair;
  private final Signal signal;
  private final long maxMessage;

  BatchBuilder(QueuePair queuePair, Signal signal) {
    this.queuePair = queuePair;
    this.signal = signal;
    this.maxMessage = queuePair.nic().maxMessageBytes();
  }

  Batch build(List<? extends WorkRequest> given) {
    // Nobody changes between the check and the writing.
    List<WorkRequest> requests = List.copyOf(given);
    int count = requests.size();
    if (count == 0) {
      throw new IllegalArgumentException("an empty batch: give one request or more");
    }
    if (count > queuePair.depth()) {
      throw tooLarge(count, queuePair.depth());
    }
    long inlineBytes = 0;
    for (int i = 0; i < count; i++) {
      inlineBytes += check(i, requests.get(i));
    }
    BatchMemory memory = new BatchMemory(queuePair, count, inlineBytes);
    try {
      MemoryRegion[] regions = new MemoryRegion[count * WorkRequest.MAX_SEGMENTS];
      RemoteMemory[] remotes = new RemoteMemory[count];
      int wqebbs = 0;
      for (int i = 0; i < count; i++) {
        WorkRequest request = requests.get(i);
        write(memory, i, request, regions);
        remotes[i] = remote(request);
        if (signal == Signal.EVERY || i == count - 1) {
          memory.signal(i);
        }
        wqebbs += memory.size(i);
      }
      if (wqebbs > queuePair.depth()) {
        throw tooLarge(wqebbs, queuePair.depth());
      }
      return new Batch(queuePair, memory, count, wqebbs, regions, remotes);
    } catch (RuntimeException | Error e) {
      memory.free();
      throw e;
    }
  }

  /** Returns the inline bytes. */
  private long check(int i, WorkRequest request) {
    boolean atomic =
        request instanceof WorkRequest.CompareSwap || request instanceof WorkRequest.FetchAdd;
    boolean landsHere = atomic || request instanceof WorkRequest.Read;
    long message = 0;
    for (LocalMemory memory : local(request)) {
      requireUsable(i, memory.region(), landsHere);
      message += memory.length();
    }
    if (atomic && !queuePair.atomics()) {
      throw wrong(
          i,
          "the NIC of "
              + queuePair
              + " does no 8-byte atomics in the host's byte order by path "
              + queuePair.path()
              + ": use another NIC, or messages");
    }
    if (atomic) {
      LocalMemory result = local(request).getFirst();
      if (result.length() != ATOMIC_BYTES) {
        throw wrong(i, "an atomic's result has " + result.length() + " bytes: take 8");
      }
      requireAligned(i, "local", result.address());
    }
    long inline = 0;
    if (request instanceof WorkRequest.WriteInline write) {
      inline = write.data().byteSize();
      if (inline > queuePair.maxInline()) {
        throw wrong(
            i,
            inline
                + " inline bytes are more than the queue pair's maxInline of "
                + queuePair.maxInline()
                + ": raise that, or use Write");
      }
      message = inline;
    }
    requireMessage(i, message, maxMessage);
    RemoteMemory remote = remote(request);
    if (remote != null) {
      if (atomic) {
        requireAligned(i, "remote", remote.address());
      }
      if (message > remote.length()) {
        throw wrong(
            i,
            message + " bytes do not fit into the remote range of " + remote.length() + " bytes");
      }
    }
    return inline;
  }

  private void requireUsable(int i, MemoryRegion region, boolean landsHere) {
    queuePair.requireUsable("request " + i + ": ", region, landsHere);
  }

  private static List<LocalMemory> local(WorkRequest request) {
    return switch (request) {
      case WorkRequest.Write r -> r.local();
      case WorkRequest.WriteImmediate r -> r.local();
      case WorkRequest.Read r -> r.local();
      case WorkRequest.Send r -> r.local();
      case WorkRequest.SendImmediate r -> r.local();
      case WorkRequest.CompareSwap r -> List.of(r.result());
      case WorkRequest.FetchAdd r -> List.of(r.result());
      case WorkRequest.Nop r -> List.of();
      case WorkRequest.WriteInline r -> List.of();
    };
  }

  private static @Nullable RemoteMemory remote(WorkRequest request) {
    return switch (request) {
      case WorkRequest.Write r -> r.remote();
      case WorkRequest.WriteImmediate r -> r.remote();
      case WorkRequest.WriteInline r -> r.remote();
      case WorkRequest.Read r -> r.remote();
      case WorkRequest.CompareSwap r -> r.remote();
      case WorkRequest.FetchAdd r -> r.remote();
      case WorkRequest.Nop r -> null;
      case WorkRequest.Send r -> null;
      case WorkRequest.SendImmediate r -> null;
    };
  }

  private static void write(
      BatchMemory memory, int i, WorkRequest request, MemoryRegion[] regions) {
    List<LocalMemory> local = local(request);
    for (int s = 0; s < local.size(); s++) {
      LocalMemory segment = local.get(s);
      memory.segment(i, s, segment.address(), segment.length(), segment.region().lkey());
      regions[i * WorkRequest.MAX_SEGMENTS + s] = segment.region();
    }
    RemoteMemory remote = remote(request);
    if (remote != null) {
      memory.remote(i, remote.address(), remote.rkey());
    }
    switch (request) {
      case WorkRequest.WriteImmediate r -> memory.immediate(i, r.immediate());
      case WorkRequest.SendImmediate r -> memory.immediate(i, r.immediate());
      case WorkRequest.WriteInline r -> memory.inline(i, r.data());
      case WorkRequest.CompareSwap r -> memory.atomic(i, r.compare(), r.swap());
      case WorkRequest.FetchAdd r -> memory.atomic(i, 0, r.add());
      default -> {}
    }
    memory.operation(i, operation(request), local.size());
  }

  private static int operation(WorkRequest request) {
    return switch (request) {
      case WorkRequest.Nop r -> BatchMemory.OP_NOP;
      case WorkRequest.Write r -> BatchMemory.OP_WRITE;
      case WorkRequest.WriteImmediate r -> BatchMemory.OP_WRITE_IMMEDIATE;
      case WorkRequest.WriteInline r -> BatchMemory.OP_WRITE_INLINE;
      case WorkRequest.Read r -> BatchMemory.OP_READ;
      case WorkRequest.Send r -> BatchMemory.OP_SEND;
      case WorkRequest.SendImmediate r -> BatchMemory.OP_SEND_IMMEDIATE;
      case WorkRequest.CompareSwap r -> BatchMemory.OP_COMPARE_SWAP;
      case WorkRequest.FetchAdd r -> BatchMemory.OP_FETCH_ADD;
    };
  }

  static boolean isAtomic(int operation) {
    return operation == BatchMemory.OP_COMPARE_SWAP || operation == BatchMemory.OP_FETCH_ADD;
  }

  static void requireAligned(int i, String side, long address) {
    if ((address & (ATOMIC_BYTES - 1)) != 0) {
      throw wrong(
          i,
          "an atomic's "
              + side
              + " address 0x"
              + Long.toHexString(address)
              + " is not a multiple of 8");
    }
  }

  static void requireSegmentLength(int i, long length) {
    if (length < 0 || length > LocalMemory.MAX_LENGTH) {
      throw wrong(i, "a segment of " + length + " bytes: take 0.." + LocalMemory.MAX_LENGTH);
    }
  }

  static void requireMessage(int i, long message, long most) {
    if (message > most) {
      throw wrong(
          i,
          "a message of "
              + message
              + " bytes is longer than the NIC's maximum of "
              + most
              + ": split it");
    }
  }

  static void requireInside(int i, MemoryRegion region, long address, long length) {
    if (outside(region.address(), region.length(), address, length)) {
      throw new IndexOutOfBoundsException(
          "request "
              + i
              + ": "
              + length
              + " bytes at 0x"
              + Long.toHexString(address)
              + " are not inside "
              + region);
    }
  }

  static void requireInside(int i, RemoteMemory range, long address, long length) {
    if (outside(range.address(), range.length(), address, length)) {
      throw new IndexOutOfBoundsException(
          "request "
              + i
              + ": "
              + length
              + " bytes at 0x"
              + Long.toHexString(address)
              + " are not inside the remote range that the request was built with, 0x"
              + Long.toHexString(range.address())
              + " and "
              + range.length()
              + " bytes");
    }
  }

  private static boolean outside(long start, long size, long address, long length) {
    long offset = address - start;
    return offset < 0 || length > size || offset > size - length;
  }

  static IllegalArgumentException tooLarge(int wqebbs, int depth) {
    return new IllegalArgumentException(
        "the batch takes "
            + wqebbs
            + " basic blocks, more than the queue's depth of "
            + depth
            + ": split it, or make the queue pair deeper");
  }

  private static IllegalArgumentException wrong(int i, String what) {
    return new IllegalArgumentException("request " + i + ": " + what);
  }
}
