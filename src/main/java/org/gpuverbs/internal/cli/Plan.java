// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.LocalMemory;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.RemoteMemory;
import org.gpuverbs.WorkRequest;

/**
 * The requests that move one window's bytes, shared out to the queue pairs and cut into batches.
 * Made once for a length and used for every row: requests don't know their queue pair.
 */
final class Plan {
  /**
   * Requests in a batch: several groups, so that all lanes have work, and several batches in a
   * queue.
   */
  private static final int BATCH = 256;

  /** The requests of each queue pair, by batch. */
  record Work(List<List<List<WorkRequest>>> perQueuePair, int requests) {}

  private final Work writes;
  private final Work reads;
  private final Work adds;

  private Plan(Work writes, Work reads, Work adds) {
    this.writes = writes;
    this.reads = reads;
    this.adds = adds;
  }

  Work writes() {
    return writes;
  }

  Work reads() {
    return reads;
  }

  Work adds() {
    return adds;
  }

  /**
   * @param length bytes of the window in use; 0 makes one request of zero length
   * @param addends how many fetch-adds of one
   */
  static Plan of(
      Windows windows, FarEnd far, long length, long chunk, int queuePairs, int addends) {
    List<WorkRequest> writes = new ArrayList<>();
    List<WorkRequest> reads = new ArrayList<>();
    RemoteMemory target = far.target();
    for (long at = 0; at < Math.max(1, length); at += chunk) {
      long bytes = Math.min(chunk, length - at);
      LocalMemory local = windows.source().local(at, bytes);
      RemoteMemory remote = target.slice(at, bytes);
      writes.add(new WorkRequest.Write(local, remote));
      reads.add(new WorkRequest.Read(local, remote));
    }
    List<WorkRequest> adds = new ArrayList<>();
    RemoteMemory counter = far.counter();
    MemoryRegion fetched = windows.fetched();
    for (int i = 0; i < addends; i++) {
      adds.add(
          new WorkRequest.FetchAdd(fetched.local((long) i * Long.BYTES, Long.BYTES), counter, 1));
    }
    return new Plan(deal(writes, queuePairs), deal(reads, queuePairs), deal(adds, queuePairs));
  }

  private static Work deal(List<WorkRequest> requests, int queuePairs) {
    List<List<List<WorkRequest>>> dealt = new ArrayList<>();
    int share = (requests.size() + queuePairs - 1) / queuePairs;
    for (int qp = 0; qp < queuePairs; qp++) {
      int from = Math.min(qp * share, requests.size());
      int to = Math.min(from + share, requests.size());
      List<List<WorkRequest>> batches = new ArrayList<>();
      for (int at = from; at < to; at += BATCH) {
        batches.add(requests.subList(at, Math.min(at + BATCH, to)));
      }
      dealt.add(batches);
    }
    return new Work(dealt, requests.size());
  }
}
