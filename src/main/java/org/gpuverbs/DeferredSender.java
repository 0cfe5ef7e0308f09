// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicReference;
import org.gpuverbs.internal.deferred.DeferredQueue;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.OneThread;
import org.gpuverbs.internal.queue.UseGate;
import org.jspecify.annotations.Nullable;

/**
 * Sends what a device is still producing, without anybody waiting for the device.
 *
 * <p>A send names the streams that produce its source. The call marks them, copies the request and
 * returns; once the marked work is over, {@link #doWork} (called by a scheduler of one's own, or by
 * a {@link Progress}) submits it. If all is over at the call and nothing is ahead, the call itself
 * submits. Nothing waits for a stream, for room, or behind another destination.
 *
 * <p>Sends are made on a {@linkplain #channel channel}, which keeps their order: {@link
 * SendOrder#ORDERED} sends of one source to one destination are released in the order of their
 * calls, those that wait for no device too. If one fails, those behind it fail with {@link
 * Syndrome#FLUSHED}, and the channel takes none until {@link DeferredChannel#reset}.
 *
 * <p>Any thread may send, cancel and poll; one thread at a time works, which is checked. The sender
 * needs an initiator for itself: the thread that works submits with it, and so do those that send.
 *
 * <p>Tickets cost no garbage. A ticket can be polled at any time; what failed is remembered until
 * its place has failed again.
 *
 * @see org.gpuverbs which way to send what a device produces
 */
public final class DeferredSender implements AutoCloseable {
  /** The most sends under way. */
  public static final int MAX_CAPACITY = 1 << 20;

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  /** For a pass of the working thread, beyond the close timeout. */
  private static final Duration LET_GO_TIMEOUT = Duration.ofSeconds(5);

  private final DeferredQueue queue;
  private final Initiator initiator;
  private final boolean ownsInitiator;
  private final Executor executor;
  private final int most;
  private final OneThread working = new OneThread("DeferredSender.doWork");
  private final UseGate gate = new UseGate();
  private final AtomicReference<@Nullable Progress> progress = new AtomicReference<>();
  private final Map<ChannelKey, DeferredChannel> channels = new ConcurrentHashMap<>();
  private final Map<Destination, QueuePairPort> ports = new ConcurrentHashMap<>();

  /** For the lock's holder. */
  private final Map<QueuePair, QueuePairOutlet> outlets = new IdentityHashMap<>();

  private final Source source = new Source();
  private volatile boolean finished;

  private record ChannelKey(long source, Destination destination) {}

  private DeferredSender(Builder builder) {
    Initiator given = builder.initiator;
    ownsInitiator = given == null;
    initiator = given == null ? CpuLanes.caller() : given;
    executor = builder.executor;
    most = builder.most;
    queue = new DeferredQueue(builder.capacity, index -> new SendSlot(index, initiator));
  }

  /**
   * A sender with the defaults.
   *
   * @return the sender, to be closed
   * @throws RdmaException if the native library is not available
   */
  public static DeferredSender create() {
    return builder().build();
  }

  /**
   * A sender of one's own making.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** What a sender is made of. */
  public static final class Builder {
    private int capacity = 4096;
    private int most = 256;
    private @Nullable Initiator initiator;
    private Executor executor = ForkJoinPool.commonPool();

    private Builder() {}

    /**
     * How many sends can be under way, from their calls until their sources are free; more are
     * refused with {@link Status#FULL}.
     *
     * <p>Each takes about 300 bytes from the beginning, and native memory for the largest batch
     * that it has held.
     *
     * @param sends 1..{@link #MAX_CAPACITY}; 4096 unless set
     * @return this
     */
    public Builder capacity(int sends) {
      if (sends < 1 || sends > MAX_CAPACITY) {
        throw new IllegalArgumentException(
            "a capacity of " + sends + " sends: take 1.." + MAX_CAPACITY);
      }
      capacity = sends;
      return this;
    }

    /**
     * How much {@link #doWork} does at once, so that a scheduler gets back to its tasks.
     *
     * @param steps 1 or more sends, each; 256 unless set
     * @return this
     */
    public Builder workAtOnce(int steps) {
      if (steps < 1) {
        throw new IllegalArgumentException(steps + " steps at once: take 1 or more");
      }
      most = steps;
      return this;
    }

    /**
     * Who submits.
     *
     * <p>With a {@link GpuStream}, a send whose only stream is that one is enqueued there at the
     * call, behind the work that produces its source: no host takes part when that is over. It is
     * released then, which means that it can't be cancelled any more.
     *
     * @param submitter used by the sender alone from now on, and not closed by it; unless set, the
     *     thread that sends or works
     * @return this
     */
    public Builder initiator(Initiator submitter) {
      initiator = Objects.requireNonNull(submitter, "submitter");
      return this;
    }

    /**
     * Who completes stages, and runs what hangs on them.
     *
     * @param stages the common pool unless set
     * @return this
     */
    public Builder executor(Executor stages) {
      executor = Objects.requireNonNull(stages, "stages");
      return this;
    }

    /**
     * Makes the sender.
     *
     * @return the sender, to be closed
     * @throws RdmaException if the native library is not available
     */
    public DeferredSender build() {
      return new DeferredSender(this);
    }
  }

  DeferredQueue queue() {
    return queue;
  }

  Executor executor() {
    return executor;
  }

  UseGate gate() {
    return gate;
  }

  IllegalStateException closed() {
    return new IllegalStateException("this deferred sender is closed");
  }

  /**
   * The way from a source to a destination. The same arguments give the same channel.
   *
   * @param source a number of the caller's: an object, a rank, a thread
   * @param destination where to, equal if it is the same
   * @return the channel
   * @throws IllegalStateException if closed
   */
  public DeferredChannel channel(long source, Destination destination) {
    Objects.requireNonNull(destination, "destination");
    if (gate.closed()) {
      throw closed();
    }
    return channels.computeIfAbsent(
        new ChannelKey(source, destination),
        key -> new DeferredChannel(this, source, destination, port(destination)));
  }

  private QueuePairPort port(Destination destination) {
    return ports.compute(
        destination,
        (key, known) -> {
          QueuePairPort port = known == null ? new QueuePairPort(this, key) : known;
          port.channels++;
          return port;
        });
  }

  /**
   * Forgets a channel, such as that of a source that is gone; the next call of {@link #channel}
   * gives a new one. What is under way goes on; its order is not kept towards the new channel.
   *
   * @param channel of this sender; one that is forgotten already does no harm
   */
  public void forget(DeferredChannel channel) {
    if (channels.remove(new ChannelKey(channel.source(), channel.destination()), channel)) {
      ports.computeIfPresent(
          channel.destination(), (key, port) -> --port.channels == 0 ? null : port);
    }
  }

  /**
   * The way from a source to an inbox of this JVM.
   *
   * @param source a number of the caller's, which messages carry
   * @param inbox where to
   * @return a new channel: order is kept within it
   * @throws IllegalStateException if closed
   */
  public LocalChannel channel(long source, LocalInbox inbox) {
    if (gate.closed()) {
      throw closed();
    }
    return new LocalChannel(this, source, inbox);
  }

  /** Whether what is submitted is behind that stream's work by itself. */
  boolean submitsOn(DeviceStream stream) {
    return initiator instanceof GpuStream gpuStream
        && stream instanceof CudaStream cuda
        && cuda.is(gpuStream.gpu(), gpuStream.handle());
  }

  /** For the lock's holder. */
  QueuePairOutlet outlet(QueuePair qp) {
    QueuePairOutlet outlet = outlets.get(qp);
    if (outlet == null || !outlet.is(qp)) {
      outlets.values().removeIf(old -> old.isIdle() && old.isClosed());
      outlet = new QueuePairOutlet(qp, initiator);
      outlets.put(qp, outlet);
    }
    return outlet;
  }

  /**
   * What became of a send. Allocates nothing.
   *
   * @param ticket as a send gave it; a negative one is returned as it is
   * @return {@link Status#DONE} once delivered, {@link Status#PENDING}, {@link Status#CANCELLED},
   *     {@link Status#DEVICE_ERROR}, {@link Status#UNREACHABLE}, {@link Status#CLOSED}, a status of
   *     the submit, a {@link Syndrome}, or {@link Status#EXPIRED}
   * @throws IllegalArgumentException if it is no ticket of this sender
   */
  public long poll(long ticket) {
    return ticket < 0 ? ticket : queue.poll(ticket);
  }

  /**
   * How far a send has come. Allocates nothing.
   *
   * @param ticket as a send gave it
   * @return the state; one that is no longer known counts as failed
   * @throws IllegalArgumentException if it is no ticket of this sender
   */
  public SendState state(long ticket) {
    long result = poll(ticket);
    if (result == Status.PENDING) {
      return queue.released(ticket) ? SendState.RELEASED : SendState.WAITING;
    }
    return result == Status.DONE
        ? SendState.DELIVERED
        : result == Status.CANCELLED ? SendState.CANCELLED : SendState.FAILED;
  }

  /**
   * Withdraws a send before its release. The device work still runs, and the source stays busy
   * until that is over; what is ordered behind it goes on.
   *
   * @param ticket as a send gave it
   * @return true if it will not be released; false if it has been, is about to be, or is over
   * @throws IllegalArgumentException if it is no ticket of this sender
   */
  public boolean cancel(long ticket) {
    return queue.cancel(ticket);
  }

  /**
   * Looks once at device work, room and completions, and does what can be done.
   *
   * @return how much was done; for {@link IdleStrategy#idle}
   * @throws IllegalStateException if another thread is working, the sender belongs to a {@link
   *     Progress}, or is closed
   */
  public int doWork() {
    if (progress.get() != null) {
      throw new IllegalStateException("this sender belongs to a Progress, which works for it");
    }
    if (gate.closed()) {
      throw closed();
    }
    return look();
  }

  private int look() {
    working.enter();
    try {
      return finished ? 0 : queue.work(most);
    } finally {
      working.exit();
    }
  }

  /**
   * How many sends are under way: from the call, which counts them before anything else, until they
   * are delivered or have failed and their sources are free. Zero means quiescence, as far as this
   * sender goes.
   *
   * @return 0..capacity
   */
  public int pending() {
    return queue.underWay();
  }

  /**
   * What the sender has counted.
   *
   * @return a snapshot
   */
  public DeferralMetrics metrics() {
    return DeferralMetrics.of(queue);
  }

  /** What a progress sees. */
  ProgressSource source() {
    return source;
  }

  private final class Source implements ProgressSource {
    @Override
    public int look() {
      return DeferredSender.this.look();
    }

    @Override
    public int pending() {
      return DeferredSender.this.pending();
    }

    @Override
    public boolean isClosed() {
      return finished;
    }

    @Override
    public void bind(Progress owner) {
      if (!progress.compareAndSet(null, owner)) {
        throw new IllegalStateException("this sender belongs to a Progress already");
      }
    }

    @Override
    public void unbind(Progress owner) {
      progress.compareAndSet(owner, null);
    }
  }

  /**
   * Takes no more sends, works on until none is under way or the time is over, and fails those that
   * are left with {@link Status#CLOSED}. Closing twice is fine.
   *
   * @param timeout how long to work on
   * @throws IllegalStateException if another thread sends or works, and does not let go within five
   *     more seconds
   */
  public void close(Duration timeout) {
    long deadline = Deadline.after(timeout);
    if (!gate.close()) {
      return;
    }
    IdleStrategy idle = IdleStrategy.backoff();
    while (!finished) {
      boolean over = Deadline.passed(deadline);
      if (Deadline.passed(deadline + LET_GO_TIMEOUT.toNanos())) {
        throw new IllegalStateException(
            "this deferred sender can't be closed: another thread is still sending or working");
      }
      int work = 0;
      if (working.tryEnter()) {
        try {
          work = finishOr(over);
        } finally {
          working.exit();
        }
      }
      idle.idle(work);
    }
    if (ownsInitiator) {
      initiator.close();
    }
  }

  /** With the working thread's right: ends the queue if it is empty or time is over, else works. */
  private int finishOr(boolean over) {
    boolean nobodySends = gate.awaitUnused(System.nanoTime());
    if (nobodySends && (over || queue.underWay() == 0)) {
      queue.abandon();
      finished = true;
      return 1;
    }
    return queue.work(most);
  }

  /** As {@link #close(Duration)} with five seconds. */
  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }
}
