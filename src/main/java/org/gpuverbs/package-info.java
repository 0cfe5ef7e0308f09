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
 *   <li>Memory: {@link org.gpuverbs.MemoryRegion}, granted by {@link org.gpuverbs.Access}, named in
 *       requests as {@link org.gpuverbs.LocalMemory} and {@link org.gpuverbs.RemoteMemory}.
 *   <li>Connections: {@link org.gpuverbs.QueuePair}, made from {@link
 *       org.gpuverbs.QueuePairOptions}, connected by {@link org.gpuverbs.QueuePairAddress}.
 *   <li>Work: {@link org.gpuverbs.WorkRequest}s in a {@link org.gpuverbs.Batch}, submitted by an
 *       {@link org.gpuverbs.Initiator} such as {@link org.gpuverbs.CpuLanes} under the queue pair's
 *       {@link org.gpuverbs.SubmitPolicy}.
 *   <li>Completion: {@link org.gpuverbs.QueuePair#poll} and {@link org.gpuverbs.QueuePair#await} on
 *       tickets, {@link org.gpuverbs.CompletionQueue} for receives, {@link org.gpuverbs.Progress}
 *       for stages and handlers, {@link org.gpuverbs.SignalWait} for words that a peer writes.
 *   <li>Failure: {@link org.gpuverbs.Status} where nothing may be allocated, {@link
 *       org.gpuverbs.RdmaException} with a {@link org.gpuverbs.Syndrome} elsewhere.
 * </ul>
 *
 * <p>Addresses and lengths are in bytes. Unless a type says otherwise, its instances may be used by
 * any thread. A type that serves one thread at a time checks that, and throws {@link
 * IllegalStateException}.
 */
@NullMarked
package org.gpuverbs;

import org.jspecify.annotations.NullMarked;
