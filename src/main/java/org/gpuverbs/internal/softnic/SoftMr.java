// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;

/** A memory region of a software NIC. Any thread. */
public final class SoftMr implements AutoCloseable {
  /** Access bits, with ibv_access_flags' values. */
  public static final int LOCAL_WRITE = 1;

  public static final int REMOTE_WRITE = 2;
  public static final int REMOTE_READ = 4;
  public static final int REMOTE_ATOMIC = 8;

  private final int key;
  private final MemorySegment segment;

  SoftMr(int key, MemorySegment segment) {
    this.key = key;
    this.segment = segment;
  }

  /** Key for the owner's own WQEs. */
  public int lkey() {
    return key;
  }

  /** Key for the peer's WQEs. */
  public int rkey() {
    return key;
  }

  /** First address. */
  public long address() {
    return segment.address();
  }

  /** Bytes. */
  public long length() {
    return segment.byteSize();
  }

  /**
   * Invalidates the keys; returns once no NIC thread touches the memory any more. Twice is fine.
   *
   * @throws IllegalStateException if a NIC thread doesn't let go within 10 s: the memory must not be freed
   */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
