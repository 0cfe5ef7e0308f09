// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;

/** A software NIC. NICs of one JVM reach each other by {@link #guid}. Any thread. */
public final class SoftNic implements AutoCloseable {
  private final SoftNicConfig config;

  private SoftNic(SoftNicConfig config) {
    this.config = config;
  }

  /**
   * Starts the NIC threads (daemons named "gpuverbs-softnic-N").
   *
   * @throws IllegalCallerException if native access is denied to this module
   */
  public static SoftNic open(SoftNicConfig config) {
    return new SoftNic(config);
  }

  /** The NIC's address in this JVM: random, never 0. */
  public long guid() {
    throw new UnsupportedOperationException();
  }

  public int threads() {
    return config.threads();
  }

  public long maxMessageBytes() {
    return config.maxMessageBytes();
  }

  /**
   * Registers memory. Payload is touched only through {@code segment}, so closing its arena is safe: later requests fail.
   *
   * @param access bits of {@link SoftMr}; remote write and remote atomic imply local write
   * @throws IllegalArgumentException if the segment is not native, is empty, is confined to a thread, is closed, or is read-only
   *     and access asks for writes
   */
  public SoftMr register(MemorySegment segment, int access) {
    throw new UnsupportedOperationException();
  }

  /** As {@link #createCq(MemorySegment, int, MemorySegment, boolean)}: room is known from {@link SoftCq#consumed}. */
  public SoftCq createCq(MemorySegment ring, int depth) {
    throw new UnsupportedOperationException();
  }

  /**
   * An owner-bit CQ in {@code ring}, which its owner has filled with invalid CQEs (op_own 0xf1 or 0xff).
   *
   * @param ring depth * 64 bytes, 64-byte aligned; must stay allocated until the QPs that use it are closed
   * @param depth a power of two, 1..2^22
   * @param dbr 4 bytes, be32 consumer index (24 bits) as an mlx5 CQ's doorbell record; or null for {@link SoftCq#consumed}
   * @param ignoreOverrun true: never full, old CQEs are overwritten (mlx5's cqc.oi)
   */
  public SoftCq createCq(
      MemorySegment ring, int depth, MemorySegment dbr, boolean ignoreOverrun) {
    throw new UnsupportedOperationException();
  }

  /**
   * Creates a QP in RESET.
   *
   * @throws IllegalStateException if the NIC is closed or has as many QPs as it may
   */
  public SoftQp createQp(SoftQpAttr attr) {
    throw new UnsupportedOperationException();
  }

  /** Closes the QPs and stops the threads, within 10 s. Twice is fine. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
