// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.gpuverbs.internal.backend.Device;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.Layouts;
import org.gpuverbs.internal.queue.SendQueue;
import org.gpuverbs.internal.queue.UseGate;
import org.gpuverbs.internal.wire.Cqe;
import org.gpuverbs.internal.wire.Mlx5;
import org.jspecify.annotations.Nullable;

/**
 * A reliable connection to one peer: a send queue that initiators submit to and, if asked for, a
 * receive queue. Any thread.
 *
 * <p>Both ends exchange {@link #address} and {@link #connect}. A request that fails moves the queue
 * pair to {@link QueuePairState#ERROR} and flushes what was outstanding; {@link #reset} starts
 * afresh.
 *
 * <p>After close, {@link #poll}, {@link #postReceive} and {@link Initiator#submit} return {@link
 * Status#CLOSED}; everything else but {@link #state}, {@link #number}, {@link #path} and the like
 * throws {@link IllegalStateException}.
 */
public final class QueuePair implements AutoCloseable {
  /** What the NIC may take to let go, beyond the close timeout. */
  private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(11);

  private final Nic nic;
  private final Path path;
  private final QueuePairOptions options;
  private final SendQueue queue;
  private final Device.Qp served;
  private final @Nullable ReceiveQueue receives;
  private final UseGate gate = new UseGate();
  private final QueuePairUsers users;
  private final @Nullable GpuQueue gpuQueue;
  private final QueuePairErrors errors = new QueuePairErrors(this);
  private final QueuePairConnection connection = new QueuePairConnection(this);
  private final CountDownLatch released = new CountDownLatch(1);
  private final long handle;

  private QueuePair(
      Nic nic, Path path, QueuePairOptions options, SendQueue queue, Device.Qp served) {
    this.nic = nic;
    this.path = path;
    this.options = options;
    this.queue = queue;
    this.served = served;
    this.handle = queue.address();
    this.users = new QueuePairUsers(this);
    this.gpuQueue = options.gpu() == null ? null : new GpuQueue(this, options.gpu(), queue);
    this.receives =
        options.receiveDepth() == 0
            ? null
            : new ReceiveQueue(queue, options.receiveDepth(), toString());
  }

  static QueuePair create(Nic nic, Path path, QueuePairOptions options) {
    Gpu gpu = options.gpu();
    if (gpu == null) {
      return make(nic, path, options);
    }
    gpu.enter();
    try {
      // Before there is anything to give back.
      gpu.builtIn(options.policy());
      QueuePair made = make(nic, path, options);
      gpu.add(made);
      return made;
    } finally {
      gpu.exit();
    }
  }

  private static QueuePair make(Nic nic, Path path, QueuePairOptions options) {
    QueuePairMemory memory = QueuePairMemory.create(nic, path, options);
    QueuePair made = new QueuePair(nic, path, options, memory.queue(), memory.served());
    memory.route(made);
    Log.LOGGER.log(
        Level.INFO,
        () ->
            made
                + " on "
                + nic.info().name()
                + ": path "
                + path
                + ", "
                + made.details()
                + ", placement "
                + options.placement()
                + ", policy "
                + options.policy()
                + ", depth "
                + options.depth());
    return made;
  }

  Nic nic() {
    return nic;
  }

  UseGate gate() {
    return gate;
  }

  SendQueue queue() {
    return queue;
  }

  /** Null unless it is a queue pair of a GPU. */
  @Nullable GpuQueue gpuQueue() {
    return gpuQueue;
  }

  /** Brings the host's view up to date, where kernels hand out the slots. */
  private void refresh() {
    if (gpuQueue != null) {
      gpuQueue.refresh();
    }
  }

  /** A kernel that met an error has latched it on the GPU; the CQE tells it here too. */
  void latchError() {
    if (gpuQueue != null) {
      gpuQueue.refresh();
      queue.poll(queue.completed());
    }
  }

  Device.Qp served() {
    return served;
  }

  QueuePairUsers users() {
    return users;
  }

  QueuePairErrors errors() {
    return errors;
  }

  QueuePairOptions options() {
    return options;
  }

  @Nullable ReceiveQueue receives() {
    return receives;
  }

  boolean atomics() {
    return nic.device().atomics(path);
  }

  /** gv_sq's address, valid while the gate is held; as a mere name always. */
  long handle() {
    return handle;
  }

  int generation() {
    return connection.generation();
  }

  /**
   * The number that the NIC gave it, kept over reset.
   *
   * @return 1..2<sup>24</sup>-1
   */
  public int number() {
    return served.number();
  }

  /**
   * Who consumes the queue.
   *
   * @return the path taken
   */
  public Path path() {
    return path;
  }

  /**
   * How the path was set up: which doorbell, who rings it, how the NIC reaches the queue, and why
   * nothing better was taken.
   *
   * @return the same from creation to close, and after it
   */
  public PathDetails details() {
    return served.details();
  }

  /**
   * Asks the NIC what it knows of this queue pair: a command to the firmware, for diagnosis.
   *
   * @return the NIC's answer; empty with paths PROXY and SOFT, which have no NIC that reads queues
   * @throws RdmaException if the NIC does not answer
   * @throws IllegalStateException if closed, or being reset
   */
  public Optional<NicState> queryNic() {
    enter();
    try {
      return Optional.ofNullable(served.query());
    } finally {
      gate.exit();
    }
  }

  /**
   * Where the queue lies.
   *
   * @return the placement taken
   */
  public Placement placement() {
    return options.placement();
  }

  /**
   * How submitters share the send queue.
   *
   * @return the policy
   */
  public SubmitPolicy policy() {
    return options.policy();
  }

  /**
   * The send queue's length.
   *
   * @return basic blocks of 64 bytes
   */
  public int depth() {
    return options.depth();
  }

  /**
   * The most bytes of an inline write.
   *
   * @return bytes
   */
  public int maxInline() {
    return options.maxInline();
  }

  Duration closeTimeout() {
    return options.closeTimeout();
  }

  /**
   * What the peer needs to connect. Changes with each reset.
   *
   * @return the address, to be sent to the peer
   * @throws IllegalStateException if closed
   */
  public QueuePairAddress address() {
    requireOpen();
    return connection.address();
  }

  /**
   * Connects to the peer, which must connect back. Requests that run before it has wait for it
   * about half a second; with paths DIRECT and PROXY as long as {@link PortOptions} says.
   *
   * @param peer the peer's address
   * @throws IllegalArgumentException if the peer's path does not reach this one's: SOFT reaches
   *     SOFT, DIRECT and PROXY reach each other
   * @throws IllegalStateException if already connected, in ERROR or closed
   * @throws RdmaException if the peer can't be reached by this path
   */
  public void connect(QueuePairAddress peer) {
    connection.connect(peer);
  }

  /**
   * What the queue pair can do now.
   *
   * @return the state
   */
  public QueuePairState state() {
    if (!gate.enter()) {
      return gate.closed() ? QueuePairState.CLOSED : QueuePairState.RESET;
    }
    try {
      if (served.failed()) {
        errors.seen();
      }
      return switch (queue.state()) {
        case SendQueue.STATE_RESET -> QueuePairState.RESET;
        case SendQueue.STATE_READY -> QueuePairState.READY;
        case SendQueue.STATE_ERROR -> QueuePairState.ERROR;
        default -> QueuePairState.CLOSED;
      };
    } finally {
      gate.exit();
    }
  }

  /**
   * What became of a ticket. Allocates nothing.
   *
   * @param ticket as submit gave it; a negative one is returned as it is, so that submit's result
   *     can be passed unseen
   * @return {@link Status#DONE}, {@link Status#PENDING}, a positive {@link Syndrome}, or {@link
   *     Status#NOT_CONNECTED}, {@link Status#QP_ERROR} or {@link Status#CLOSED}
   */
  public long poll(long ticket) {
    if (ticket < 0) {
      return ticket;
    }
    if (!gate.enter()) {
      return absent();
    }
    try {
      refresh();
      long result = queue.poll(ticket);
      if (result > 0 || result == Status.QP_ERROR) {
        errors.seen();
      }
      return result;
    } finally {
      gate.exit();
    }
  }

  /** Whether the ticket is done; false if that can't be told now. */
  boolean isDone(long ticket) {
    return poll(ticket) == Status.DONE;
  }

  /** Slots handed out, or a status. */
  long submitted() {
    if (!gate.enter()) {
      return absent();
    }
    try {
      return queue.counter(Layouts.SQ_RESV_HEAD);
    } finally {
      gate.exit();
    }
  }

  /** Why the gate does not open. */
  long absent() {
    return gate.closed() ? Status.CLOSED : Status.NOT_CONNECTED;
  }

  /**
   * Waits until a ticket is done: a loop in Java that a virtual thread may run. With a full send CQ
   * somebody must poll that.
   *
   * @param ticket as submit gave it
   * @param timeout how long to wait; the queue pair goes on if it ends
   * @throws RdmaException with the syndrome if the request failed or was flushed, with the status
   *     if {@code ticket} is one or the queue pair was reset or closed, with {@link Status#TIMEOUT}
   *     if it is not done in time; naming the NIC's event if one ended the queue pair
   * @throws InterruptedException if interrupted; the request goes on
   */
  public void await(long ticket, Duration timeout) throws InterruptedException {
    long deadline = Deadline.after(timeout);
    int born = connection.generation();
    IdleStrategy idle = IdleStrategy.backoff();
    while (true) {
      long result = born == connection.generation() ? poll(ticket) : Status.NOT_CONNECTED;
      if (result == Status.DONE) {
        return;
      }
      if (result != Status.PENDING || Deadline.passed(deadline)) {
        throw failure("ticket " + ticket, result == Status.PENDING ? Status.TIMEOUT : result);
      }
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted while waiting for ticket " + ticket);
      }
      idle.idle(0);
    }
  }

  /** Why something of this queue pair failed, with the NIC's event if one ended it. */
  RdmaException failure(String what, long result) {
    String event = errors.event();
    return RdmaException.of(
        what + " of " + this + (event.isEmpty() ? "" : " (" + event + ")"), result);
  }

  /**
   * How far the NIC has come: every ticket below is done.
   *
   * @return basic blocks finished since creation or reset
   * @throws IllegalStateException if closed
   */
  public long completed() {
    enter();
    try {
      // With a collapsed CQ a poll takes the CQE into account; with a full one its consumer has
      // done so.
      refresh();
      queue.poll(queue.completed());
      return queue.completed();
    } finally {
      gate.exit();
    }
  }

  /**
   * What submitters have counted.
   *
   * @return a snapshot
   * @throws IllegalStateException if closed
   */
  public QueuePairCounters counters() {
    enter();
    try {
      if (gpuQueue != null) {
        queue.readDevice();
      }
      return new QueuePairCounters(
          queue.counter(Layouts.SQ_RESV_HEAD),
          queue.completed(),
          queue.counter(Layouts.SQ_DOORBELLS),
          queue.counter(Layouts.SQ_FULL) + (gpuQueue == null ? 0 : gpuQueue.full()),
          queue.counter(Layouts.SQ_STALLS),
          queue.counter(Layouts.SQ_SCANS));
    } finally {
      gate.exit();
    }
  }

  /**
   * Why it went to ERROR.
   *
   * @return the {@link Syndrome} of the first request that failed; 0 if none has
   * @throws IllegalStateException if closed
   */
  public int errorSyndrome() {
    enter();
    try {
      latchError();
      return queue.errorSyndrome();
    } finally {
      gate.exit();
    }
  }

  /**
   * Which request failed first.
   *
   * @return its ticket, or -1 if none has
   * @throws IllegalStateException if closed
   */
  public long errorTicket() {
    enter();
    try {
      latchError();
      return queue.errorIndex();
    } finally {
      gate.exit();
    }
  }

  /**
   * Posts a receive, before or after connecting. One thread at a time, which is checked. Its
   * completion goes to the receive CQ.
   *
   * @param id what {@link Completions#id} will say
   * @param memory where the message lands, up to three ranges with {@link Access#LOCAL_WRITE}; none
   *     for messages of 0 bytes
   * @return the receive's index, or {@link Status#FULL}, {@link Status#QP_ERROR} or {@link
   *     Status#CLOSED}
   * @throws IllegalArgumentException if the memory is another NIC's or lacks LOCAL_WRITE, or are
   *     more than three ranges
   * @throws IllegalStateException if the queue pair has no receive queue, a region is closed, or
   *     another thread is posting
   */
  public long postReceive(long id, LocalMemory... memory) {
    ReceiveQueue queue = receives;
    if (queue == null) {
      throw new IllegalStateException(
          this + " has no receive queue: create it with receiveDepth and receiveQueue");
    }
    if (memory.length > WorkRequest.MAX_SEGMENTS) {
      throw new IllegalArgumentException(
          memory.length + " ranges: a receive takes at most " + WorkRequest.MAX_SEGMENTS);
    }
    queue.enter();
    try {
      if (!gate.enter()) {
        return absent();
      }
      try {
        for (int i = 0; i < memory.length; i++) {
          requireUsable("receive: ", memory[i].region(), true);
          queue.segment(i, memory[i]);
        }
        return queue.post(id, memory.length);
      } finally {
        gate.exit();
      }
    } finally {
      queue.exit();
    }
  }

  /** Takes one CQE of this queue pair. By the CQ's one poller, with the gate held. */
  void completion(
      CompletionQueue from, long next, MemorySegment cq, long at, int opOwn, Completions out) {
    int opcode = Cqe.opcode(opOwn);
    int counter = Cqe.wqeCounter(cq, at);
    boolean failed = Cqe.error(opOwn);
    int syndrome = failed ? Cqe.syndrome(cq, at) : 0;
    long bytes = failed ? 0 : Cqe.byteCount(cq, at);
    boolean immediate = opcode == Mlx5.CQE_RESP_WR_IMM || opcode == Mlx5.CQE_RESP_SEND_IMM;
    int value = immediate ? Cqe.immediate(cq, at) : 0;
    from.taken(next);
    if (opcode == Mlx5.CQE_REQ || opcode == Mlx5.CQE_REQ_ERR) {
      out.addSend(queue.complete(counter, syndrome), number(), syndrome, bytes);
    } else if (receives != null) {
      out.addReceive(receives.complete(counter), number(), syndrome, bytes, value, immediate);
    }
    if (failed) {
      errors.seen();
    }
  }

  void requireUsable(String who, MemoryRegion region, boolean landsHere) {
    if (region.nic() != nic) {
      throw new IllegalArgumentException(
          who + region + " belongs to another NIC than " + this + ": register it with this one");
    }
    region.requireOpen();
    if (landsHere && !region.access().contains(Access.LOCAL_WRITE)) {
      throw new IllegalArgumentException(
          who + region + " is read-only for the NIC: register it with Access.LOCAL_WRITE");
    }
  }

  void serve(Initiator initiator) {
    users.serve(initiator);
  }

  boolean admits(Initiator initiator) {
    return users.admits(initiator);
  }

  /** Runs {@code build} while this can't be closed, and owns the batch that it gives. */
  Batch adopt(Supplier<Batch> build) {
    enter();
    try {
      Batch batch = build.get();
      users.add(batch);
      return batch;
    } finally {
      gate.exit();
    }
  }

  void forget(Batch batch) {
    users.remove(batch);
  }

  /**
   * The address of the queue's device state ({@code gv_sq} of gpuverbs/queue.h), for submitters of
   * one's own: of a queue pair of a GPU in GPU memory, for kernels that {@code #include
   * <gpuverbs/device.h>}, whoever launches them; else in host memory, for native code.
   *
   * <p>Close ends the waits of kernels that use it and waits for the kernels, at most the close
   * timeout; then the memory stays until the GPU is closed. It does not wait for native code.
   *
   * @return an address
   * @throws IllegalStateException if closed, if a {@link GpuStream} submits to it, if a full send
   *     CQ would put the CPU between kernels and their room in the queue, or if the doorbell
   *     interval leaves a warp's 32 requests no room in it
   */
  public long deviceHandle() {
    requireOpen();
    return gpuQueue == null ? handle : gpuQueue.handle();
  }

  /**
   * Starts both queues afresh: whatever is outstanding is forgotten, old tickets are {@link
   * Status#NOT_CONNECTED}, and the address changes. The peer must be reset too. Batches stay
   * usable.
   *
   * @throws IllegalStateException if closed
   * @throws RdmaException with {@link Status#TIMEOUT} if submitters or a poll of its completion
   *     queues are not out within the close timeout
   */
  public void reset() {
    connection.reset();
  }

  void enter() {
    if (!gate.enter()) {
      requireOpen();
      throw new IllegalStateException(this + " is being reset");
    }
  }

  void requireOpen() {
    if (gate.closed()) {
      throw new IllegalStateException(this + " is closed");
    }
  }

  /**
   * Ends every wait on the queue with {@link Status#CLOSED}, waits at most the close timeout for
   * those who still use it, closes its batches and frees its memory; if somebody does not let go in
   * time, the memory is left allocated and a warning logged. Closing twice is fine.
   */
  @Override
  public void close() {
    if (gate.close()) {
      try {
        connection.release();
      } finally {
        nic.forget(this);
        released.countDown();
      }
    } else {
      awaitReleased();
    }
  }

  /** Whoever closes it second may go on to close its parents, so waits for the first. */
  private void awaitReleased() {
    boolean interrupted = false;
    long deadline = Deadline.after(closeTimeout()) + RELEASE_TIMEOUT.toNanos();
    while (true) {
      try {
        released.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Such as {@code QueuePair 17}. */
  @Override
  public String toString() {
    return "QueuePair " + served.number();
  }
}
