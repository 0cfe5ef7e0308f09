// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.backend;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.NicState;
import org.gpuverbs.Path;
import org.gpuverbs.PathDetails;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
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

  /**
   * A producer for an owner-bit CQ.
   *
   * @param path of the queue pairs that complete to it
   */
  Cq createCq(Path path, MemorySegment ring, int depth);

  /**
   * Throws IllegalArgumentException naming the option that queue pairs of the path can't have here.
   */
  void check(Path path, QueuePairOptions options);

  /** A queue pair in RESET. */
  Qp createQp(Queues queues);

  /** What peers need. */
  QueuePairAddress address(Path path, int number, int packetSequence);

  /** Whether its queue pairs of the path do atomics. */
  boolean atomics(Path path);

  @Override
  void close();

  /**
   * What a queue pair consists of.
   *
   * @param send null for a collapsed CQ
   * @param receive null without a receive queue
   */
  record Queues(
      Path path,
      SendQueue queue,
      QueuePairOptions options,
      @Nullable Cq send,
      @Nullable Cq receive) {}

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

    /**
     * Called when nobody produces any more. Throws IllegalStateException if the NIC may still touch
     * the ring.
     */
    void close();
  }

  /** A queue pair. */
  interface Qp {
    /** 24 bits, kept over reset. */
    int number();

    /** How its path was set up. */
    PathDetails details();

    /** Whether it went to ERROR. */
    boolean failed();

    /** The asynchronous event that ended it, in words; empty if none did. */
    String event();

    /** What the NIC says; null if there is no NIC that could be asked. */
    @Nullable NicState query();

    void connect(QueuePairAddress peer, int packetSequence);

    /** The rings are touched no more when it returns. */
    void reset();

    /**
     * Throws IllegalStateException if the NIC may still touch the rings.
     *
     * @param inUse whether somebody may still submit: the doorbell then stays where it is
     */
    void close(boolean inUse);
  }
}
