// SPDX-License-Identifier: Apache-2.0
package examples;

import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CompletionQueue;
import org.gpuverbs.Completions;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.IdleStrategy;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RemoteMemory;
import org.gpuverbs.Rendezvous;
import org.gpuverbs.Status;
import org.gpuverbs.WorkRequest;

/**
 * A consumer of messages. The producer sends even-numbered messages (SEND with immediate: they land
 * in the receive that was posted) and writes odd-numbered ones into a slot (WRITE with immediate:
 * the receive only tells of it). The immediate is the message's number. Both check all they get,
 * and throw if anything is missing or wrong.
 *
 * <p>The two sides share a JVM here, as the software NIC needs, and are otherwise apart: what they
 * know of each other came by {@link Rendezvous}.
 */
public final class Consumer {
  private static final int MESSAGES = 1000;
  private static final int SLOTS = 32;
  private static final int SLOT_BYTES = 256;
  private static final int WORDS = SLOT_BYTES / Long.BYTES;
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private Consumer() {}

  /** Takes no arguments. */
  public static void main(String[] args) throws Exception {
    var options = Rendezvous.Options.secret(Rendezvous.Options.newSecret()).timeout(PATIENCE);
    var anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (Nic nic = Nic.open();
        Rendezvous rendezvous = Rendezvous.listen(anyPort, options);
        ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Callable<Integer> consumer = () -> consume(nic, rendezvous.accept());
      Callable<Integer> producer =
          () -> produce(nic, Rendezvous.connect(rendezvous.address(), options));
      Future<Integer> consumed = threads.submit(consumer);
      Future<Integer> produced = threads.submit(producer);
      check(produced.get(60, TimeUnit.SECONDS) == MESSAGES, "the producer stopped early");
      check(consumed.get(60, TimeUnit.SECONDS) == MESSAGES, "the consumer stopped early");
      System.out.println("valid: " + MESSAGES + " messages");
    }
  }

  private static int consume(Nic nic, Rendezvous.Peer peer) throws InterruptedException {
    try (peer;
        MemoryRegion slots = nic.allocate(SLOTS * SLOT_BYTES, Access.REMOTE_WRITE);
        CompletionQueue queue = nic.completionQueue(2 * SLOTS);
        QueuePair qp =
            nic.queuePair(
                QueuePairOptions.builder().receiveDepth(SLOTS).receiveQueue(queue).build())) {
      // Receives first, then the connection: nothing can arrive too early.
      for (int slot = 0; slot < SLOTS; slot++) {
        check(qp.postReceive(slot, slots.local(at(slot), SLOT_BYTES)) >= 0, "no room to receive");
      }
      qp.connect(QueuePairAddress.fromBytes(peer.exchange(qp.address().toBytes())));
      peer.exchange(slots.remote().toBytes());

      Completions completions = new Completions(SLOTS);
      IdleStrategy idle = IdleStrategy.backoff();
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      int next = 0;
      while (next < MESSAGES) {
        int taken = queue.poll(completions);
        for (int i = 0; i < taken; i++) {
          check(completions.status(i) == Status.DONE, "syndrome " + completions.syndrome(i));
          check(completions.hasImmediate(i), "a message without its number");
          check(completions.immediate(i) == next, "message " + completions.immediate(i));
          int slot = next % SLOTS;
          check(completions.id(i) == slot, "receives complete in the order of their posting");
          for (int word = 0; word < WORDS; word++) {
            long value = slots.segment().get(ValueLayout.JAVA_LONG, at(slot) + 8L * word);
            check(value == content(next, word), "message " + next + " is damaged");
          }
          next++;
        }
        for (int i = 0; i < taken; i++) {
          long slot = completions.id(i);
          check(qp.postReceive(slot, slots.local(at((int) slot), SLOT_BYTES)) >= 0, "no room");
        }
        if (taken > 0) {
          // The slots are free again: the producer may go on.
          peer.exchange(new byte[] {(byte) taken});
        }
        check(System.nanoTime() < deadline, "only " + next + " messages came in time");
        idle.idle(taken);
      }
      return next;
    }
  }

  private static int produce(Nic nic, Rendezvous.Peer peer) throws InterruptedException {
    try (peer;
        MemoryRegion messages = nic.allocate(SLOTS * SLOT_BYTES);
        QueuePair qp = nic.queuePair(QueuePairOptions.defaults());
        CpuLanes initiator = CpuLanes.caller()) {
      qp.connect(QueuePairAddress.fromBytes(peer.exchange(qp.address().toBytes())));
      RemoteMemory theirs = RemoteMemory.fromBytes(peer.exchange(new byte[0]));

      int credit = SLOTS;
      int sent = 0;
      while (sent < MESSAGES) {
        while (credit > 0 && sent < MESSAGES) {
          send(qp, initiator, messages, theirs, sent++);
          credit--;
        }
        credit += peer.exchange(new byte[0])[0];
      }
      // The rest of the credits says that the consumer has seen everything.
      while (credit < SLOTS) {
        credit += peer.exchange(new byte[0])[0];
      }
      return sent;
    }
  }

  private static void send(
      QueuePair qp, CpuLanes initiator, MemoryRegion messages, RemoteMemory theirs, int number)
      throws InterruptedException {
    int slot = number % SLOTS;
    for (int word = 0; word < WORDS; word++) {
      messages.segment().set(ValueLayout.JAVA_LONG, at(slot) + 8L * word, content(number, word));
    }
    var local = messages.local(at(slot), SLOT_BYTES);
    var request =
        number % 2 == 0
            ? new WorkRequest.SendImmediate(local, number)
            : new WorkRequest.WriteImmediate(local, theirs.slice(at(slot), SLOT_BYTES), number);
    try (Batch batch = Batch.of(qp, request)) {
      long ticket = initiator.submit(batch, PATIENCE);
      check(ticket >= 0, ticket >= 0 ? "" : Status.describe(ticket));
      qp.await(ticket, PATIENCE);
    }
  }

  private static long at(int slot) {
    return (long) slot * SLOT_BYTES;
  }

  private static long content(int number, int word) {
    return number * 0x9E3779B97F4A7C15L + word;
  }

  private static void check(boolean right, String what) {
    if (!right) {
      throw new IllegalStateException(what);
    }
  }
}
