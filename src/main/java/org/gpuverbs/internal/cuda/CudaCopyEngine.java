// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cuda;

import org.gpuverbs.internal.shim.CudaCalls;
import org.gpuverbs.internal.softnic.CopyEngine;

/** A GPU's copy engine, on a non-blocking stream for each NIC thread. */
public final class CudaCopyEngine implements CopyEngine {
  private static final int STAGING = 1 << 20;

  private final long gpu;
  private final PinnedPool pool;

  /** Of a gv_gpu, with staging from its pool. */
  public CudaCopyEngine(long gpu, PinnedPool pool) {
    this.gpu = gpu;
    this.pool = pool;
  }

  /** The gv_gpu. */
  public long gpu() {
    return gpu;
  }

  @Override
  public Stream open() {
    long staging = pool.take(STAGING);
    try {
      return new CudaStream(gpu, CudaCalls.streamCreate(gpu), staging, pool);
    } catch (RuntimeException | Error e) {
      pool.give(staging, STAGING);
      throw e;
    }
  }

  private record CudaStream(long gpu, long stream, long staging, PinnedPool pool)
      implements Stream {
    @Override
    public int start(long to, long from, long bytes) {
      return CudaCalls.copyStart(gpu, stream, to, from, bytes);
    }

    @Override
    public int query() {
      return CudaCalls.streamQuery(gpu, stream);
    }

    @Override
    public int stagingBytes() {
      return STAGING;
    }

    /** Waits for nothing: the stream is idle, the staging goes back to the pool. */
    @Override
    public void close() {
      try {
        CudaCalls.streamDestroy(gpu, stream);
      } finally {
        pool.give(staging, STAGING);
      }
    }
  }
}
