// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A NIC and everything that can be closed on it, for {@link UseAfterCloseFuzzTest}. */
final class FuzzScene implements AutoCloseable {
  static final int BYTES = 8192;
  private static final int PAIRS = 3;
  private static final int DEPTH = 64;

  final Nic nic = Nic.open();
  final Arena arena = Arena.ofShared();
  final CompletionQueue received = nic.completionQueue(DEPTH);
  final Completions completions = new Completions(DEPTH);
  final CpuLanes lanes = CpuLanes.start(2);
  final Progress progress = Progress.create();
  final List<QueuePair> queuePairs = new ArrayList<>();
  final List<MemoryRegion> regions = new ArrayList<>();
  final List<Batch> batches = new ArrayList<>();

  FuzzScene(long seed) {
    Random random = new Random(seed);
    regions.add(nic.allocate(BYTES, Access.values()));
    regions.add(nic.allocate(BYTES, Access.values()));
    regions.add(nic.register(arena.allocate(BYTES, 8), Access.values()));
    for (int i = 0; i < PAIRS; i++) {
      QueuePair near = nic.queuePair(QueuePairOptions.builder().depth(DEPTH).build());
      QueuePair far =
          nic.queuePair(
              QueuePairOptions.builder()
                  .depth(DEPTH)
                  .receiveDepth(8)
                  .receiveQueue(received)
                  .build());
      Pair.connect(near, far);
      queuePairs.add(near);
      queuePairs.add(far);
    }
    for (QueuePair queuePair : queuePairs) {
      batches.add(Batch.of(queuePair, requests(random)));
    }
  }

  /** One to four requests of any kind, of which some touch the arena that a thread may close. */
  WorkRequest[] requests(Random random) {
    WorkRequest[] requests = new WorkRequest[1 + random.nextInt(4)];
    for (int i = 0; i < requests.length; i++) {
      MemoryRegion from = any(regions, random);
      MemoryRegion to = any(regions, random);
      long offset = 8L * random.nextInt(BYTES / 16);
      LocalMemory local = from.local(offset, random.nextInt(BYTES / 2));
      LocalMemory word = from.local(offset, 8);
      RemoteMemory remote = to.remote(offset, BYTES / 2);
      requests[i] =
          switch (random.nextInt(7)) {
            case 0 -> new WorkRequest.Nop();
            case 1 -> new WorkRequest.Read(local, remote);
            case 2 -> new WorkRequest.WriteInline(random.nextLong(), remote);
            case 3 -> new WorkRequest.FetchAdd(word, to.remote(offset, 8), 1);
            case 4 -> new WorkRequest.Send(from.local(offset, 64));
            default -> new WorkRequest.Write(local, remote);
          };
    }
    return requests;
  }

  static <T> T any(List<T> list, Random random) {
    return list.get(random.nextInt(list.size()));
  }

  @Override
  public void close() {
    progress.close();
    lanes.close();
    nic.close();
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
