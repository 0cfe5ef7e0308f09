// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/**
 * What a queue pair's submitters have counted since it was created or reset. A snapshot that is not
 * atomic.
 *
 * @param submitted basic blocks handed out to submitters, which is also the next ticket's lower
 *     bound
 * @param completed basic blocks finished by the NIC, as last seen
 * @param doorbells doorbells rung
 * @param full submits that found no room
 * @param stalls waits that reached the slow path (yield, check for a closed queue)
 * @param scans scan rounds of {@link HandOver#BITMAP}
 */
public record QueuePairCounters(
    long submitted, long completed, long doorbells, long full, long stalls, long scans) {}
