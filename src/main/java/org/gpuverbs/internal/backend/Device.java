// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.backend;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.softnic.CopyEngine;
import org.jspecify.annotations.Nullable;

/** An opened NIC. Any thread. Its close throws IllegalStateException if it can't let go. */
public interface Device extends AutoCloseable {
  /** Never 0. */
  long guid();

  long maxMessageBytes();

  /**
   * Registers host memory.
   *
   * @param access bits of enum ibv_access_flags
   */
  Region register(MemorySegment segment, int access);

  /** Registers host memory that a GPU uses too. */
  Region register(MemorySegment segment, CopyEngine copies, int access);

  /** Registers memory of a GPU. */
  Region register(long address, long length, CopyEngine copies, int access);

  /** A producer for an owner-bit CQ. */
  Cq createCq(MemorySegment ring, int depth);

  /**
   * A queue pair in RESET.
   *
   * @param send null for a collapsed CQ
   * @param receive null without a receive queue
   */
  Qp createQp(
      SendQueue queue, int depth, int receiveDepth, @Nullable Cq send, @Nullable Cq receive);

  /** What peers need. */
  QueuePairAddress address(int number, int packetSequence);

  @Override
  void close();

  /** Registered memory. */
  interface Region {
    int lkey();

    int rkey();

    /** Throws IllegalStateException if the NIC may still touch the memory. */
    void close();
  }

  /** A completion queue's producer. */
  interface Cq {
    /** How many CQEs have been taken in all. */
    void consumed(long consumerIndex);

    /** Called when nobody produces any more. */
    void close();
  }

  /** A queue pair. */
  interface Qp {
    /** 24 bits, kept over reset. */
    int number();

    /** Whether it went to ERROR. */
    boolean failed();

    void connect(QueuePairAddress peer, int packetSequence);

    /** The rings are touched no more when it returns. */
    void reset();

    /** Throws IllegalStateException if the NIC may still touch the rings. */
    void close();
  }
}
