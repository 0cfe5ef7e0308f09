// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.backend.Device;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.queue.WqeSize;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair's native memory, its NIC side and its room in the CQs: made together, given back
 * together.
 */
record QueuePairMemory(
    SendQueue queue,
    Device.Qp served,
    @Nullable CompletionQueue sendQueue,
    @Nullable CompletionQueue receiveQueue,
    int depth,
    int receiveDepth) {
  /** GV_GROUP_REQUESTS of native/include/gpuverbs/queue.h. */
  static final int GROUP_REQUESTS = 32;

  static QueuePairMemory create(Nic nic, Path path, QueuePairOptions options) {
    CompletionQueue send = options.sendQueue();
    CompletionQueue receive = options.receiveQueue();
    requireOwn(nic, send);
    requireOwn(nic, receive);
    nic.device().check(path, options);
    SendQueue queue = queue(options);
    int sendRoom = 0;
    int receiveRoom = 0;
    try {
      if (send != null) {
        send.attach(options.depth(), "a send queue");
        sendRoom = options.depth();
      }
      if (receive != null) {
        receive.attach(options.receiveDepth(), "a receive queue");
        receiveRoom = options.receiveDepth();
      }
      Device.Qp served =
          nic.device()
              .createQp(
                  new Device.Queues(
                      path,
                      queue,
                      options,
                      send == null ? null : send.producer(path),
                      receive == null ? null : receive.producer(path)));
      return new QueuePairMemory(
          queue, served, send, receive, options.depth(), options.receiveDepth());
    } catch (RuntimeException | Error e) {
      giveBack(send, sendRoom);
      giveBack(receive, receiveRoom);
      queue.destroy();
      throw e;
    }
  }

  private static void requireOwn(Nic nic, @Nullable CompletionQueue cq) {
    if (cq != null && cq.nic() != nic) {
      throw new IllegalArgumentException(cq + " belongs to another NIC than " + nic);
    }
  }

  private static SendQueue queue(QueuePairOptions options) {
    int depth = options.depth();
    SubmitPolicy policy = options.policy();
    int signalEvery = depth / 4;
    // I5: what is coalesced at once must fit beside what waits for a doorbell or a completion. A
    // batch is reserved only where it has room, so a smaller bound costs nothing. A user's kernel
    // reserves first and waits then: see GpuQueue.
    int most =
        GROUP_REQUESTS
            * Math.max(
                WqeSize.MAX_WQEBBS_WITHOUT_INLINE, WqeSize.inlineWqebbs(options.maxInline()));
    int room = depth - Math.max(policy.doorbellEvery(), signalEvery) + 1;
    Gpu gpu = options.gpu();
    return SendQueue.create(
        gpu == null ? 0 : gpu.handle(),
        options.placement() == Placement.GPU,
        depth,
        options.receiveDepth(),
        policy.handOver().code(),
        policy.fenceMode().code(),
        policy.doorbellEvery(),
        signalEvery,
        Math.min(most, room),
        options.sendQueue() == null,
        Deadline.nanos(options.submitTimeout()));
  }

  void route(QueuePair made) {
    if (sendQueue != null) {
      sendQueue.route(served.number(), made);
    }
    if (receiveQueue != null) {
      receiveQueue.route(served.number(), made);
    }
  }

  static void giveBack(@Nullable CompletionQueue cq, int room) {
    if (cq != null && room > 0) {
      cq.detach(room);
    }
  }
}
