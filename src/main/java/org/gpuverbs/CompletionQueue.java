// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.gpuverbs.internal.backend.Device;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.IntTable;
import org.gpuverbs.internal.queue.OneThread;
import org.gpuverbs.internal.queue.UseGate;
import org.gpuverbs.internal.shim.Calls;
import org.gpuverbs.internal.shim.Memory;
import org.gpuverbs.internal.wire.Cqe;
import org.gpuverbs.internal.wire.Mlx5;
import org.jspecify.annotations.Nullable;

/**
 * A queue of completions in host memory, shared by any number of queue pairs: of receives, and of
 * requests where {@link QueuePairOptions.Builder#sendQueue} asked for them.
 *
 * <p>One thread at a time may poll, which is checked. Once added to a {@link Progress} only that
 * polls.
 *
 * <p>It can't overflow: queue pairs are refused that could have more outstanding than it has room
 * for. All its queue pairs have one path, that of the first.
 */
public final class CompletionQueue implements AutoCloseable {
  private static final java.time.Duration CLOSE_TIMEOUT = java.time.Duration.ofSeconds(5);

  /** Room that a closed queue pair gives back once its last completion is behind the consumer. */
  private record Retired(long end, int room) {}

  private final Nic nic;
  private final int depth;
  private final MemorySegment ring;
  private final OneThread thread = new OneThread("this completion queue");
  private final UseGate gate = new UseGate();
  private final IntTable<QueuePair> queuePairs = new IntTable<>();
  private final AtomicReference<@Nullable Progress> progress = new AtomicReference<>();
  private final List<Retired> retired = new ArrayList<>();
  private int reserved;

  /** Work queues attached, whether or not their queue pair is reachable by its number yet. */
  private int users;

  /** Of the first queue pair's path; null before that, when nothing has completed here either. */
  private volatile Device.@Nullable Cq producer;

  private @Nullable Path path;

  private volatile boolean quarantined;

  /** CQEs taken. */
  private volatile long consumer;

  private CompletionQueue(Nic nic, int depth, MemorySegment ring) {
    this.nic = nic;
    this.depth = depth;
    this.ring = ring;
  }

  static CompletionQueue create(Nic nic, int depth) {
    long address = Calls.cqCreate(depth);
    return new CompletionQueue(nic, depth, Memory.at(address, (long) depth * Mlx5.CQE_SIZE));
  }

  Nic nic() {
    return nic;
  }

  /**
   * Who completes here, for a queue pair that is attached.
   *
   * @throws IllegalArgumentException if it serves queue pairs of another path
   */
  synchronized Device.Cq producer(Path wanted) {
    Device.Cq made = producer;
    if (made == null) {
      made = nic.device().createCq(wanted, ring, depth);
      producer = made;
      path = wanted;
    } else if (path != wanted) {
      throw new IllegalArgumentException(
          this
              + " serves queue pairs of path "
              + path
              + ": make another one for those of path "
              + wanted);
    }
    return made;
  }

  private void consumed(long index) {
    Device.Cq made = producer;
    if (made != null) {
      made.consumed(index);
    }
  }

  /**
   * The length.
   *
   * @return completions
   */
  public int depth() {
    return depth;
  }

  /**
   * Takes completions, oldest first, as many as there are and {@code out} has room for. Allocates
   * nothing.
   *
   * @param out overwritten
   * @return how many were taken; 0 or more
   * @throws IllegalStateException if the queue is closed, belongs to a {@link Progress}, or another
   *     thread is polling
   */
  public int poll(Completions out) {
    if (progress.get() != null) {
      throw new IllegalStateException(this + " belongs to a Progress, which polls it");
    }
    return take(out);
  }

  /** For the owner. */
  int take(Completions out) {
    thread.enter();
    try {
      if (!gate.enter()) {
        if (gate.closed()) {
          throw new IllegalStateException(this + " is closed");
        }
        out.clear(); // a reset is dropping completions
        return 0;
      }
      try {
        return drain(out);
      } finally {
        gate.exit();
      }
    } finally {
      thread.exit();
    }
  }

  private int drain(Completions out) {
    out.clear();
    long index = consumer;
    QueuePair inside = null;
    while (!out.full()) {
      long offset = offset(index);
      int opOwn = Cqe.opOwn(ring, offset);
      if (!Cqe.valid(opOwn, index, depth)) {
        break;
      }
      QueuePair qp = queuePairs.get(Cqe.qpNumber(ring, offset));
      if (qp != inside) {
        if (inside != null) {
          inside.gate().exit();
        }
        inside = qp != null && qp.gate().enter() ? qp : null;
      }
      index++;
      if (inside != null) {
        inside.completion(this, index, ring, offset, opOwn, out);
      }
    }
    if (inside != null) {
      inside.gate().exit();
    }
    if (index != consumer) {
      taken(index);
    }
    return out.size();
  }

  /**
   * Tells the NIC that everything before {@code next} is taken. Before any room in a send or
   * receive queue is given back for it: else the NIC could complete the next request there while it
   * still finds this queue full, which breaks it.
   */
  void taken(long next) {
    consumer = next;
    consumed(next);
  }

  /** The index behind the last CQE that the NIC has written. Any thread. */
  long end() {
    while (true) {
      long from = consumer;
      long at = from;
      while (at - from < depth && Cqe.valid(ring, offset(at), at, depth)) {
        at++;
      }
      // Behind a consumer that moved, the NIC may already have written the next lap.
      if (from == consumer) {
        return at;
      }
    }
  }

  /** Reserves room, so that the queue can't overflow; from then on it can't be closed. */
  synchronized void attach(int room, String what) {
    if (gate.closed()) {
      throw new IllegalStateException(this + " is closed");
    }
    retired.removeIf(
        r -> {
          boolean behind = consumer - r.end >= 0;
          reserved -= behind ? r.room : 0;
          return behind;
        });
    if (room > depth - reserved) {
      throw new IllegalArgumentException(
          this
              + " has room for "
              + (depth - reserved)
              + " more completions, "
              + what
              + " needs "
              + room
              + ": make a deeper one");
    }
    reserved += room;
    users++;
  }

  /**
   * Drops the completions that nobody has taken of a queue pair to which the NIC is deaf, so that
   * they take no room from those after its reset; as mlx5_cq_clean does. False if a poll that is
   * under way has not ended by the deadline.
   */
  synchronized boolean drop(int number, long deadline) {
    if (!gate.pause()) {
      return true;
    }
    try {
      if (!gate.awaitUnused(deadline)) {
        return false;
      }
      long end = end();
      int dropped = 0;
      for (long at = end - 1; at >= consumer; at--) {
        if (Cqe.qpNumber(ring, offset(at)) == number) {
          dropped++;
        } else if (dropped > 0) {
          move(at, at + dropped);
        }
      }
      if (dropped > 0) {
        // What a closed queue pair left may have moved behind where it was.
        retired.replaceAll(r -> new Retired(end, r.room));
        consumer += dropped;
        consumed(consumer);
      }
      return true;
    } finally {
      gate.resume();
    }
  }

  private void move(long from, long to) {
    MemorySegment.copy(ring, offset(from), ring, offset(to), Mlx5.CQE_SIZE);
    long opOwn = offset(to) + Mlx5.CQE_OP_OWN;
    int owner = (to & depth) != 0 ? Mlx5.CQE_OWNER_MASK : 0;
    byte old = ring.get(ValueLayout.JAVA_BYTE, opOwn);
    ring.set(ValueLayout.JAVA_BYTE, opOwn, (byte) (old & ~Mlx5.CQE_OWNER_MASK | owner));
  }

  private long offset(long index) {
    return (index & (depth - 1)) * Mlx5.CQE_SIZE;
  }

  void route(int number, QueuePair queuePair) {
    queuePairs.put(number, queuePair);
  }

  void unroute(int number) {
    queuePairs.remove(number);
  }

  /** Gives room back. The NIC writes no more completions of its queue pair. */
  synchronized void detach(int room) {
    users--;
    if (gate.enter()) {
      try {
        retired.add(new Retired(end(), room));
      } finally {
        gate.exit();
      }
    }
  }

  /** The NIC may still write here, so the memory is not to be freed. */
  synchronized void quarantine() {
    users--;
    quarantined = true;
  }

  boolean isClosed() {
    return gate.closed();
  }

  void bind(Progress owner) {
    if (!progress.compareAndSet(null, owner)) {
      throw new IllegalStateException(this + " belongs to a Progress already");
    }
  }

  void unbind(Progress owner) {
    progress.compareAndSet(owner, null);
  }

  /**
   * Frees the queue. Closing twice is fine.
   *
   * @throws IllegalStateException if a queue pair still uses it: close that first
   */
  @Override
  public void close() {
    synchronized (this) {
      if (users != 0 && !gate.closed()) {
        throw new IllegalStateException(
            this
                + " is used by "
                + Math.max(1, queuePairs.size())
                + " queue pairs: close them first");
      }
      if (!gate.close()) {
        return;
      }
    }
    nic.forget(this);
    if (gate.awaitUnused(Deadline.after(CLOSE_TIMEOUT)) && !quarantined) {
      free();
    } else {
      Quarantine.report(this.toString(), null);
    }
  }

  private void free() {
    Device.Cq made = producer;
    try {
      if (made != null) {
        made.close();
      }
      Calls.cqDestroy(ring.address(), depth);
    } catch (IllegalStateException e) {
      Quarantine.report(this.toString(), e);
    }
  }

  /** Such as {@code CompletionQueue[depth 1024]}. */
  @Override
  public String toString() {
    return "CompletionQueue[depth " + depth + "]";
  }
}
