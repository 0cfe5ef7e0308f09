// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;

/**
 * One request of a batch. The records only hold what was said; {@link Batch#of} checks it against
 * the queue pair.
 *
 * <p>A message's length is the sum of its local segments; zero is legal, and so is a request
 * without segments. At most {@link #MAX_SEGMENTS} segments. Atomics work on 8 bytes in the host's
 * byte order, aligned to 8 on both sides.
 */
public sealed interface WorkRequest {
  /** The most local segments of one request. */
  int MAX_SEGMENTS = 3;

  /** Does nothing but complete, in order. */
  record Nop() implements WorkRequest {}

  /**
   * Writes local segments, one after the other, into the peer's memory (RDMA WRITE).
   *
   * @param local the source; read access suffices
   * @param remote where to; the peer granted {@link Access#REMOTE_WRITE}
   */
  record Write(List<LocalMemory> local, RemoteMemory remote) implements WorkRequest {
    /** Copies the list. */
    public Write {
      local = segments(local);
      Objects.requireNonNull(remote, "remote");
    }

    /**
     * Of one segment.
     *
     * @param local the source
     * @param remote where to
     */
    public Write(LocalMemory local, RemoteMemory remote) {
      this(List.of(local), remote);
    }
  }

  /**
   * As {@link Write}, and completes one of the peer's receives with 32 bits.
   *
   * @param local the source
   * @param remote where to
   * @param immediate what the receive completion carries
   */
  record WriteImmediate(List<LocalMemory> local, RemoteMemory remote, int immediate)
      implements WorkRequest {
    /** Copies the list. */
    public WriteImmediate {
      local = segments(local);
      Objects.requireNonNull(remote, "remote");
    }

    /**
     * Of one segment.
     *
     * @param local the source
     * @param remote where to
     * @param immediate what the receive completion carries
     */
    public WriteImmediate(LocalMemory local, RemoteMemory remote, int immediate) {
      this(List.of(local), remote, immediate);
    }
  }

  /**
   * Writes bytes that travel inside the queue entry: no local memory region is needed.
   *
   * @param data copied when the batch is built; at most {@link QueuePairOptions#maxInline()} bytes
   * @param remote where to
   */
  record WriteInline(MemorySegment data, RemoteMemory remote) implements WorkRequest {
    /** Checks for null. */
    public WriteInline {
      Objects.requireNonNull(data, "data");
      Objects.requireNonNull(remote, "remote");
    }

    /**
     * Of an array.
     *
     * @param data copied when the batch is built
     * @param remote where to
     */
    public WriteInline(byte[] data, RemoteMemory remote) {
      this(MemorySegment.ofArray(data), remote);
    }

    /**
     * Of one 8-byte value in the host's byte order, such as a signal.
     *
     * @param value the value
     * @param remote where to
     */
    public WriteInline(long value, RemoteMemory remote) {
      this(
          ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(value).array(),
          remote);
    }
  }

  /**
   * Reads the peer's memory into local segments (RDMA READ).
   *
   * @param local where to; needs {@link Access#LOCAL_WRITE}
   * @param remote the source; the peer granted {@link Access#REMOTE_READ}
   */
  record Read(List<LocalMemory> local, RemoteMemory remote) implements WorkRequest {
    /** Copies the list. */
    public Read {
      local = segments(local);
      Objects.requireNonNull(remote, "remote");
    }

    /**
     * Of one segment.
     *
     * @param local where to
     * @param remote the source
     */
    public Read(LocalMemory local, RemoteMemory remote) {
      this(List.of(local), remote);
    }
  }

  /**
   * Sends a message into one of the peer's receives.
   *
   * @param local the message
   */
  record Send(List<LocalMemory> local) implements WorkRequest {
    /** Copies the list. */
    public Send {
      local = segments(local);
    }

    /**
     * Of one segment.
     *
     * @param local the message
     */
    public Send(LocalMemory local) {
      this(List.of(local));
    }
  }

  /**
   * As {@link Send}, with 32 bits in the receive completion.
   *
   * @param local the message
   * @param immediate what the receive completion carries
   */
  record SendImmediate(List<LocalMemory> local, int immediate) implements WorkRequest {
    /** Copies the list. */
    public SendImmediate {
      local = segments(local);
    }

    /**
     * Of one segment.
     *
     * @param local the message
     * @param immediate what the receive completion carries
     */
    public SendImmediate(LocalMemory local, int immediate) {
      this(List.of(local), immediate);
    }
  }

  /**
   * Stores {@code swap} in the peer's word if it equals {@code compare}; fetches what it was
   * before.
   *
   * @param result 8 bytes, aligned to 8, that take the word's old value; needs {@link
   *     Access#LOCAL_WRITE}
   * @param remote the word; the peer granted {@link Access#REMOTE_ATOMIC}
   * @param compare the expected value
   * @param swap the new value
   */
  record CompareSwap(LocalMemory result, RemoteMemory remote, long compare, long swap)
      implements WorkRequest {
    /** Checks for null. */
    public CompareSwap {
      Objects.requireNonNull(result, "result");
      Objects.requireNonNull(remote, "remote");
    }
  }

  /**
   * Adds to the peer's word; fetches what it was before.
   *
   * @param result 8 bytes, aligned to 8, that take the word's old value; needs {@link
   *     Access#LOCAL_WRITE}
   * @param remote the word; the peer granted {@link Access#REMOTE_ATOMIC}
   * @param add what to add, modulo 2<sup>64</sup>
   */
  record FetchAdd(LocalMemory result, RemoteMemory remote, long add) implements WorkRequest {
    /** Checks for null. */
    public FetchAdd {
      Objects.requireNonNull(result, "result");
      Objects.requireNonNull(remote, "remote");
    }
  }

  private static List<LocalMemory> segments(List<LocalMemory> local) {
    if (local.size() > MAX_SEGMENTS) {
      throw new IllegalArgumentException(
          local.size() + " segments: a request takes at most " + MAX_SEGMENTS);
    }
    return List.copyOf(local);
  }
}
