// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CompletionQueue;
import org.gpuverbs.Completions;
import org.gpuverbs.Gpu;
import org.gpuverbs.LocalMemory;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.Path;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RdmaException;
import org.gpuverbs.RemoteMemory;
import org.gpuverbs.Status;
import org.gpuverbs.SubmitPolicy;
import org.gpuverbs.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * One side's NIC, queue pairs and memory. Each queue pair has two ranges: {@code out}, whose bytes
 * leave it or come from reads, and {@code in}, which the peer reaches. One thread at a time.
 */
final class Side implements AutoCloseable {
  /** SOFT reaches queue pairs of its own JVM. */
  private static final UUID JVM = UUID.randomUUID();

  private static final long ALIGNED = 64;

  final Plan plan;
  final Nic nic;
  final List<QueuePair> queuePairs = new ArrayList<>();
  final Completions completions = new Completions(256);
  private final long slot;
  private final MemoryRegion out;
  private final MemoryRegion in;
  private final CompletionQueue received;
  private RemoteMemory peer;

  /** {@code gpu} submits, or this host if it is null. */
  Side(Plan plan, SubmitPolicy policy, NicChoice choice, @Nullable Gpu gpu) {
    this.plan = plan;
    slot = Math.max(ALIGNED, (plan.largest() + ALIGNED - 1) / ALIGNED * ALIGNED);
    long bytes = slot * plan.queuePairs();
    nic = choice.open();
    try {
      if (plan.largest() > nic.maxMessageBytes()) {
        throw new PerfException(
            plan.largest()
                + " bytes are more than the NIC's longest message of "
                + nic.maxMessageBytes());
      }
      out = nic.allocate(bytes, Access.LOCAL_WRITE);
      in = nic.allocate(bytes, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
      received =
          plan.test().send()
              ? nic.completionQueue(Integer.highestOneBit(plan.depth() * plan.queuePairs() * 2 - 1))
              : null;
      QueuePairOptions.Builder options =
          QueuePairOptions.builder().depth(plan.depth()).policy(policy);
      if (gpu != null) {
        options.gpu(gpu);
      }
      if (received != null) {
        options.receiveDepth(plan.depth()).receiveQueue(received);
      }
      for (int i = 0; i < plan.queuePairs(); i++) {
        queuePairs.add(nic.queuePair(options.build()));
      }
    } catch (RuntimeException | Error e) {
      nic.close();
      throw e;
    }
  }

  Path path() {
    return queuePairs.getFirst().path();
  }

  /** Tells each other where everything is, and connects. */
  void connect(Channel channel) {
    ByteBuffer mine =
        ByteBuffer.allocate(16 + RemoteMemory.BYTES + queuePairs.size() * QueuePairAddress.BYTES);
    mine.putLong(JVM.getMostSignificantBits()).putLong(JVM.getLeastSignificantBits());
    mine.put(in.remote().toBytes());
    queuePairs.forEach(qp -> mine.put(qp.address().toBytes()));
    byte[] answer = channel.exchange(mine.array());
    if (answer.length != mine.capacity()) {
      throw new PerfException("the other side is not perf of this version: run the same on both");
    }
    ByteBuffer theirs = ByteBuffer.wrap(answer);
    UUID jvm = new UUID(theirs.getLong(), theirs.getLong());
    if (path() == Path.SOFT && !jvm.equals(JVM)) {
      Words.agree(
          channel,
          "the software NIC (path SOFT) connects queue pairs of one JVM, and these are two: run the"
              + " test as loopback (leave out HOST and --server), or on a NIC with path DIRECT or"
              + " PROXY (see the library's info command)");
    }
    byte[] memory = new byte[RemoteMemory.BYTES];
    theirs.get(memory);
    peer = RemoteMemory.fromBytes(memory);
    byte[] address = new byte[QueuePairAddress.BYTES];
    String problem = "";
    try {
      for (QueuePair qp : queuePairs) {
        theirs.get(address);
        qp.connect(QueuePairAddress.fromBytes(address));
      }
    } catch (RdmaException | IllegalArgumentException e) {
      problem = e.getMessage();
    }
    Words.agree(channel, problem);
  }

  LocalMemory out(int queuePair, int size) {
    return out.local(queuePair * slot, size);
  }

  LocalMemory in(int queuePair, int size) {
    return in.local(queuePair * slot, size);
  }

  /** Messages of this test to the peer. */
  Batch batch(int queuePair, int size, int messages) {
    LocalMemory mine = out(queuePair, size);
    RemoteMemory theirs = peer.slice(queuePair * slot, size);
    WorkRequest request =
        switch (plan.test()) {
          case WRITE_BW, WRITE_LAT -> new WorkRequest.Write(mine, theirs);
          case READ_BW, READ_LAT -> new WorkRequest.Read(mine, theirs);
          case SEND_BW, SEND_LAT -> new WorkRequest.Send(mine);
          case ATOMIC_BW, ATOMIC_LAT -> new WorkRequest.FetchAdd(mine, theirs, 1);
        };
    return Batch.of(
        queuePairs.get(queuePair), Batch.Signal.LAST, Collections.nCopies(messages, request));
  }

  /** Posts one receive. False if there is no room. */
  boolean postReceive(int queuePair, LocalMemory[] where) {
    long index = queuePairs.get(queuePair).postReceive(queuePair, where);
    if (index < 0 && index != Status.FULL) {
      throw new PerfException("a receive can't be posted: " + Status.describe(index));
    }
    return index >= 0;
  }

  /** Takes completions of receives, into {@link #completions}. */
  int pollReceived() {
    int count = received.poll(completions);
    for (int i = 0; i < count; i++) {
      if (completions.status(i) != Status.DONE) {
        throw new PerfException("a receive failed: " + Status.describe(completions.syndrome(i)));
      }
    }
    return count;
  }

  /** Before each size: what leaves is the pattern, what arrives is nothing yet. */
  void prepare(int size, int mySeed) {
    for (int i = 0; i < queuePairs.size(); i++) {
      var leaving = slotOf(out, i, size);
      var arriving = slotOf(in, i, size);
      if (plan.test().read()) {
        leaving.fill((byte) 0);
        Pattern.fill(arriving, mySeed + i);
      } else if (plan.test().atomic()) {
        leaving.fill((byte) 0);
        arriving.fill((byte) 0);
      } else {
        Pattern.fill(leaving, mySeed + i);
        arriving.fill((byte) 0);
      }
    }
  }

  MemorySegment outSlot(int queuePair, int size) {
    return slotOf(out, queuePair, size);
  }

  MemorySegment inSlot(int queuePair, int size) {
    return slotOf(in, queuePair, size);
  }

  private MemorySegment slotOf(MemoryRegion region, int queuePair, int size) {
    return region.segment().asSlice(queuePair * slot, size);
  }

  @Override
  public void close() {
    nic.close();
  }
}
