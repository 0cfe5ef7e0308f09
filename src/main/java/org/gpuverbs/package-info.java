// SPDX-License-Identifier: Apache-2.0

/**
 * RDMA whose submit path runs in CUDA kernels or CPU lane threads.
 *
 * <p>A map of the package:
 *
 * <ul>
 *   <li>Start: {@link org.gpuverbs.GpuVerbs} tells whether the library works here, {@link
 *       org.gpuverbs.Nic} opens a NIC, {@link org.gpuverbs.NicInfo} what this machine has and why
 *       not more.
 *   <li>Memory: {@link org.gpuverbs.MemoryRegion}, granted by {@link org.gpuverbs.Access}, with an
 *       {@link org.gpuverbs.Ordering} of writes, named in requests as {@link
 *       org.gpuverbs.LocalMemory} and {@link org.gpuverbs.RemoteMemory}.
 *   <li>Connections: {@link org.gpuverbs.QueuePair}, made from {@link
 *       org.gpuverbs.QueuePairOptions}, connected by {@link org.gpuverbs.QueuePairAddress}. Who
 *       consumes its queues is its {@link org.gpuverbs.Path}; {@link org.gpuverbs.PathDetails} say
 *       how, {@link org.gpuverbs.NicState} what a ConnectX knows of it.
 *   <li>Work: {@link org.gpuverbs.WorkRequest}s in a {@link org.gpuverbs.Batch}, submitted by an
 *       {@link org.gpuverbs.Initiator} such as {@link org.gpuverbs.CpuLanes} under the queue pair's
 *       {@link org.gpuverbs.SubmitPolicy}.
 *   <li>Completion: {@link org.gpuverbs.QueuePair#poll} and {@link org.gpuverbs.QueuePair#await} on
 *       tickets, {@link org.gpuverbs.CompletionQueue} for receives, {@link org.gpuverbs.Progress}
 *       for stages and handlers, {@link org.gpuverbs.SignalWait} for words that a peer writes.
 *   <li>Failure: {@link org.gpuverbs.Status} where nothing may be allocated, {@link
 *       org.gpuverbs.RdmaException} with a {@link org.gpuverbs.Syndrome} elsewhere.
 *   <li>Device work: {@link org.gpuverbs.DeviceStream}s, {@link org.gpuverbs.DeviceCompletions} for
 *       stages, {@link org.gpuverbs.DeferredSender} for sends that follow it; see below.
 * </ul>
 *
 * <p>Addresses and lengths are in bytes. Unless a type says otherwise, its instances may be used by
 * any thread. A type that serves one thread at a time checks that, and throws {@link
 * IllegalStateException}.
 *
 * <h2>Sending what a device is still producing</h2>
 *
 * <p>A buffer that a kernel writes may be sent, or announced to somebody who will read it, only
 * once the kernel is over. There are four ways to see to that:
 *
 * <table>
 * <caption>Which way to send what a device produces</caption>
 * <tr><th>way</th><th>the calling thread</th><th>take it when</th></tr>
 * <tr><td>Wait for the stream, then {@linkplain org.gpuverbs.Initiator#submit submit}</td>
 * <td>blocks for as long as the device works</td>
 * <td>there is nothing else to do</td></tr>
 * <tr><td>{@link org.gpuverbs.DeferredChannel#send(org.gpuverbs.Batch, org.gpuverbs.SendOrder,
 * org.gpuverbs.DeviceStream) A deferred send}</td>
 * <td>marks the stream, copies the request, goes on; later {@link
 * org.gpuverbs.DeferredSender#doWork} submits</td>
 * <td>a scheduler has other tasks; sources lie on several streams; the destination may move
 * meanwhile; sends must be cancelled; messages without device work must keep their place</td></tr>
 * <tr><td>In the stream: a {@link org.gpuverbs.GpuStream} enqueues a submit kernel behind the
 * producing kernel</td>
 * <td>enqueues, goes on; no host takes part afterwards</td>
 * <td>latency counts most, and one stream produces the source; what is enqueued can't be
 * cancelled or sent elsewhere</td></tr>
 * <tr><td>In the same JVM: {@link org.gpuverbs.LocalChannel}</td>
 * <td>as a deferred send, without a queue pair</td>
 * <td>the receiver can read the source where it is</td></tr>
 * </table>
 *
 * <p>{@link org.gpuverbs.DeviceCompletions} is for everything else that shall happen after device
 * work: a stage, to which anything can be attached.
 *
 * <h3>An example: Charm++'s CkRdmaDeviceOnSender</h3>
 *
 * <p>A chare hands device buffers to a neighbour. The runtime may tell the neighbour's processor of
 * them only when their streams have produced them, and today it synchronises each buffer's stream
 * before it packs the message: correct, and the scheduler runs no other chare meanwhile, although
 * over-decomposition has given it dozens. The same with a deferred send:
 *
 * <pre>{@code
 * // Once: messages from this chare to that one keep their order. Where that one lives is asked
 * // when a message goes out, since it may migrate while the message waits.
 * DeferredChannel toNeighbour = sender.channel(myIndex, () -> directory.queuePairTo(neighbour));
 *
 * // CkRdmaDeviceOnSender: marks both streams, copies the metadata, returns.
 * DeferredSend ghost =
 *     toNeighbour.sendAsync(metadata, SendOrder.ORDERED, leftStream, rightStream);
 * ghost.sourceReusable().thenRun(() -> scheduler.ready(packNextHalo));
 *
 * // A message without device data must not overtake it: the same channel.
 * toNeighbour.send(iterationDone, SendOrder.ORDERED);
 *
 * // The scheduler's loop: the sends are issued from here, by this thread.
 * while (running) {
 *   int work = sender.doWork();
 *   work += runNextTask();
 *   idle.idle(work);
 * }
 *
 * // Quiescence detection: a send that waits is a message that is under way.
 * boolean quiet = messagesCreated == messagesProcessed && sender.pending() == 0;
 * }</pre>
 *
 * <p>What to know when doing so:
 *
 * <ul>
 *   <li>The buffers stay the chare's own until {@link org.gpuverbs.DeferredSend#sourceReusable},
 *       which is later than {@link org.gpuverbs.DeferredSend#released}: packing the next halo into
 *       a buffer that the neighbour still reads is the mistake that double buffering hides.
 *   <li>A failed device fails the send by name and flushes what is ordered behind it; the channel
 *       takes nothing more until {@link org.gpuverbs.DeferredChannel#reset}. It is never polled for
 *       ever.
 *   <li>The number of sends under way is bounded; {@link org.gpuverbs.Status#FULL} says that the
 *       scheduler should do something else first.
 *   <li>A stream that is capturing a graph can't be waited for, and is refused.
 * </ul>
 */
@NullMarked
package org.gpuverbs;

import org.jspecify.annotations.NullMarked;
