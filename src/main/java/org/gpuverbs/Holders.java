// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** Initiators that read a batch's memory after submit has returned. */
final class Holders {
  private Holders() {}

  /** Whether it reads requests within submit, not afterwards. */
  static boolean readsAtOnce(Initiator initiator) {
    return initiator instanceof CpuLanes lanes && lanes.readsAtOnce();
  }

  /** Waits for a submit that went in without the queue pair's gate; false at the deadline. */
  static boolean awaitSubmit(Initiator holder, QueuePair qp, long deadline) {
    return switch (holder) {
      case CpuLanes lanes -> lanes.awaitSubmit(qp, deadline);
      case GpuStream stream -> true;
    };
  }

  /** Whether the initiator reads no batch of that queue pair any more. */
  static boolean idle(Initiator holder, QueuePair qp) {
    return switch (holder) {
      case CpuLanes lanes -> lanes.idle(qp.handle());
      case GpuStream stream -> stream.idle();
    };
  }

  /** Whether the initiator is closed and has let go of every queue pair, not only begun to. */
  static boolean gone(Initiator holder) {
    return switch (holder) {
      case CpuLanes lanes -> lanes.stopped();
      case GpuStream stream -> stream.isClosed() && stream.idle();
    };
  }

  /** Frees the memory once the initiator is gone. */
  static void adopt(Initiator holder, BatchMemory memory) {
    switch (holder) {
      case CpuLanes lanes -> lanes.adopt(memory);
      case GpuStream stream -> stream.adopt(memory);
    }
  }
}
