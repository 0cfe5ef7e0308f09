// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.queue.WqeSize;
import org.gpuverbs.internal.softnic.SoftQp;
import org.gpuverbs.internal.softnic.SoftQpAttr;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair's native memory, its NIC side and its room in the CQs: made together, given back
 * together.
 */
record QueuePairMemory(
    SendQueue queue,
    SoftQp soft,
    @Nullable CompletionQueue sendQueue,
    @Nullable CompletionQueue receiveQueue,
    int depth,
    int receiveDepth) {
  /** GV_GROUP_REQUESTS of native/include/gpuverbs/queue.h. */
  static final int GROUP_REQUESTS = 32;

  static QueuePairMemory create(Nic nic, QueuePairOptions options) {
    CompletionQueue send = options.sendQueue();
    CompletionQueue receive = options.receiveQueue();
    requireOwn(nic, send);
    requireOwn(nic, receive);
    requireSoft(options);
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
      SoftQp soft =
          nic.soft()
              .createQp(
                  new SoftQpAttr(
                      queue.ring(),
                      options.depth(),
                      queue.doorbellRecord(),
                      queue.doorbell(),
                      send == null ? queue.collapsedCqe() : null,
                      send == null ? null : send.soft(),
                      receive == null ? null : queue.receiveRing(options.receiveDepth()),
                      options.receiveDepth(),
                      receive == null ? null : receive.soft()));
      return new QueuePairMemory(
          queue, soft, send, receive, options.depth(), options.receiveDepth());
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

  /** The software NIC reads rings by address, as the CPU. */
  private static void requireSoft(QueuePairOptions options) {
    if (options.placement() == Placement.GPU) {
      throw new RdmaException(
          "path SOFT can't serve a queue in GPU memory, which its threads can't read",
          0,
          0,
          0,
          "take Placement.HOST, which is pinned for the GPU's kernels; placement GPU is for path"
              + " DIRECT",
          null);
    }
  }

  private static SendQueue queue(QueuePairOptions options) {
    int depth = options.depth();
    SubmitPolicy policy = options.policy();
    int signalEvery = depth / 4;
    // I5: what is coalesced at once must fit beside what waits for a doorbell or a completion; a
    // batch is reserved only
    // where it has room, so a smaller bound costs nothing.
    int most =
        GROUP_REQUESTS
            * Math.max(
                WqeSize.MAX_WQEBBS_WITHOUT_INLINE, WqeSize.inlineWqebbs(options.maxInline()));
    int room = depth - Math.max(policy.doorbellEvery(), signalEvery) + 1;
    Gpu gpu = options.gpu();
    return SendQueue.create(
        gpu == null ? 0 : gpu.handle(),
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
      sendQueue.route(soft.number(), made);
    }
    if (receiveQueue != null) {
      receiveQueue.route(soft.number(), made);
    }
  }

  static void giveBack(@Nullable CompletionQueue cq, int room) {
    if (cq != null && room > 0) {
      cq.detach(room);
    }
  }
}
