// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cuda;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.gpuverbs.internal.shim.CudaCalls;

/**
 * Pinned host memory of a GPU in small pieces. Nothing goes back to the driver before close,
 * because freeing pinned memory waits for running kernels, which may be waiting for the caller. Any
 * thread.
 */
public final class PinnedPool {
  private static final long SLAB = 4L << 20;
  private static final long LEAST = 256;

  private final long gpu;
  private final Map<Long, ArrayDeque<Long>> free = new HashMap<>();
  private final List<Long> slabs = new ArrayList<>();
  private long at;
  private long end;

  /** An empty pool of a gv_gpu. */
  public PinnedPool(long gpu) {
    this.gpu = gpu;
  }

  private static long rounded(long bytes) {
    return bytes <= LEAST ? LEAST : Long.highestOneBit(bytes - 1) << 1;
  }

  /** Memory with any content, aligned to 256 bytes. */
  public synchronized long take(long bytes) {
    long size = rounded(bytes);
    ArrayDeque<Long> pieces = free.get(size);
    if (pieces != null && !pieces.isEmpty()) {
      return pieces.pop();
    }
    if (size >= SLAB) {
      return slab(size);
    }
    if (end - at < size) {
      at = slab(SLAB);
      end = at + SLAB;
    }
    at += size;
    return at - size;
  }

  private long slab(long bytes) {
    long address = CudaCalls.allocate(gpu, bytes, CudaCalls.MEMORY_PINNED);
    slabs.add(address);
    return address;
  }

  /** Gives back what {@link #take} gave for so many bytes. */
  public synchronized void give(long address, long bytes) {
    free.computeIfAbsent(rounded(bytes), size -> new ArrayDeque<>()).push(address);
  }

  /** Frees everything; waits for kernels. */
  public synchronized void close() {
    for (long slab : slabs) {
      CudaCalls.free(gpu, slab, CudaCalls.MEMORY_PINNED);
    }
    slabs.clear();
    free.clear();
    at = 0;
    end = 0;
  }
}
