// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * Not a test: how many RDMA WRITEs a second one NIC thread drains from one Java producer thread.
 *
 * <p>Arguments: bytes a message (64), WQEs a doorbell (16), queue pairs (1), seconds (2).
 */
public final class Throughput {
  private static final int DEPTH = 1024;
  private static final int SIGNAL_EVERY = DEPTH / 4;

  private Throughput() {}

  /** One queue pair's producer: rings every so many WQEs, waits for credit in the collapsed CQE. */
  private static final class Producer {
    final SoftQp qp;
    final long ring;
    final long dbr;
    final long doorbell;
    final long cqe;
    final int every;
    final long ctrl;
    final long raddr;
    final long rkey;
    final long data;
    final long laddr;
    long pi;
    long completed;

    Producer(SoftQp qp, QueueMemory memory, SoftMr local, SoftMr remote, int bytes, int every) {
      this.qp = qp;
      this.every = every;
      ring = memory.ring.address();
      dbr = memory.dbr.address();
      doorbell = memory.doorbell.address();
      cqe = memory.cqe.address();
      ctrl = 8L << 32 | (long) qp.number() << 8 | 3;
      raddr = Long.reverseBytes(remote.address());
      rkey = Integer.reverseBytes(remote.rkey()) & 0xffff_ffffL;
      data = Long.reverseBytes((long) bytes << 32 | local.lkey() & 0xffff_ffffL);
      laddr = Long.reverseBytes(local.address());
    }

    /** Posts up to {@code wanted}, a multiple of the doorbell interval; how many. */
    int post(int wanted) {
      if (pi + wanted - completed > DEPTH) {
        int word = (int) (HostMemory.getLongOpaque(cqe + 0x38) >>> 32);
        int counter = Integer.reverseBytes(word) >>> 16;
        completed += (short) (counter + 1 - (int) completed);
        if (pi + wanted - completed > DEPTH) {
          return 0;
        }
      }
      for (int i = 0; i < wanted; i++) {
        long at = ring + ((pi & (DEPTH - 1)) << 6);
        HostMemory.putLong(at, Long.reverseBytes(ctrl | (pi & 0xffff) << 40));
        HostMemory.putLong(at + 8, (pi & (SIGNAL_EVERY - 1)) == SIGNAL_EVERY - 1 ? 8L << 24 : 0);
        HostMemory.putLong(at + 16, raddr);
        HostMemory.putLong(at + 24, rkey);
        HostMemory.putLong(at + 32, data);
        HostMemory.putLong(at + 40, laddr);
        pi++;
        if ((pi & (every - 1)) == 0) {
          long record = Integer.reverseBytes((int) (pi & 0xffff)) & 0xffff_ffffL;
          HostMemory.putLongRelease(dbr, record << 32);
          HostMemory.putLongRelease(
              doorbell, Long.reverseBytes((pi & 0xffff) << 40 | (long) qp.number() << 8));
        }
      }
      return wanted;
    }
  }

  public static void main(String[] args) {
    int bytes = args.length > 0 ? Integer.parseInt(args[0]) : 64;
    int every = args.length > 1 ? Integer.parseInt(args[1]) : 16;
    int pairs = args.length > 2 ? Integer.parseInt(args[2]) : 1;
    int seconds = args.length > 3 ? Integer.parseInt(args[3]) : 2;
    try (Arena arena = Arena.ofShared();
        SoftNic nic = SoftNic.open(SoftNicConfig.defaults())) {
      int all = SoftMr.LOCAL_WRITE | SoftMr.REMOTE_WRITE;
      SoftMr local = nic.register(arena.allocate(Math.max(bytes, 4096), 4096), all);
      SoftMr remote = nic.register(arena.allocate(Math.max(bytes, 4096), 4096), all);
      List<Producer> producers = new ArrayList<>();
      for (int i = 0; i < pairs; i++) {
        QueueMemory a = new QueueMemory(arena, DEPTH, 0);
        QueueMemory b = new QueueMemory(arena, 64, 0);
        SoftQp qa = nic.createQp(a.attr(null, null));
        SoftQp qb = nic.createQp(b.attr(null, null));
        qa.connect(new SoftRemote(nic.guid(), qb.number(), 1, 2));
        qb.connect(new SoftRemote(nic.guid(), qa.number(), 2, 1));
        producers.add(new Producer(qa, a, local, remote, bytes, every));
      }
      for (int round = 0; round < 3; round++) {
        measure(producers, every, bytes, seconds * 1_000_000_000L);
      }
      for (Producer p : producers) {
        if (p.qp.state() != SoftState.READY) {
          throw new IllegalStateException("QP " + p.qp.number() + " is in " + p.qp.state());
        }
      }
    }
  }

  private static void measure(List<Producer> producers, int every, int bytes, long nanos) {
    long before = producers.stream().mapToLong(p -> p.qp.wqes()).sum();
    long rings = producers.stream().mapToLong(p -> p.qp.doorbells()).sum();
    long cqes = producers.stream().mapToLong(p -> p.qp.cqes()).sum();
    long start = System.nanoTime();
    long now = start;
    while (now - start < nanos) {
      for (int i = 0; i < 256; i++) {
        for (Producer p : producers) {
          for (int spins = 0; p.post(every) == 0; spins++) {
            // As lane threads do: on two cores the NIC thread may be waiting for this one's core.
            if (spins < 8) {
              Thread.onSpinWait();
            } else {
              Thread.yield();
            }
          }
        }
      }
      now = System.nanoTime();
    }
    double wqes = producers.stream().mapToLong(p -> p.qp.wqes()).sum() - before;
    double took = now - start;
    System.out.printf(
        "%d B, %d QPs: %.2f M WQE/s, %.2f GB/s, %.3f doorbells taken and %.4f CQEs a WQE%n",
        bytes,
        producers.size(),
        wqes / took * 1e3,
        wqes * bytes / took,
        (producers.stream().mapToLong(p -> p.qp.doorbells()).sum() - rings) / wqes,
        (producers.stream().mapToLong(p -> p.qp.cqes()).sum() - cqes) / wqes);
  }
}
