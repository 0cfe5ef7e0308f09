// SPDX-License-Identifier: Apache-2.0
package examples;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongConsumer;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.DeferredChannel;
import org.gpuverbs.DeferredSender;
import org.gpuverbs.Destination;
import org.gpuverbs.DeviceStream;
import org.gpuverbs.HostStream;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.SendOrder;
import org.gpuverbs.Status;
import org.gpuverbs.WorkRequest;

/**
 * An over-decomposed scheduler: more tasks than threads, so that one task's waiting is another
 * one's chance. Each task lets its device work for a while, sends the result to a neighbour, and
 * does so again once the source is free. Three ways to send after the device work: block until it
 * is over, defer the send, or let the device's stream submit it.
 *
 * <p>A {@link HostStream} stands in for the device. The scheduler has other work in short pieces,
 * without end; what a way to send costs shows in the share of time that is left for it.
 */
public final class OverDecomposition {
  /** How a result is sent. */
  public enum Way {
    /** Wait for the stream, then submit. */
    BLOCKING,
    /** Mark the stream, and submit when a pass finds the mark reached. */
    DEFERRED,
    /** The stream submits, behind the device work. */
    IN_STREAM
  }

  /** One task's device. */
  public interface Device extends AutoCloseable {
    /** Where the work leaves its result: 8 bytes at the start. */
    MemoryRegion result();

    /** What the work is enqueued on. */
    DeviceStream stream();

    /** Queue pairs that {@link #submitBehind} can serve. */
    QueuePairOptions options();

    /** Enqueues work that leaves that value. */
    void work(long value);

    /** Blocks until the work is over. */
    void await(Duration patience) throws InterruptedException;

    /** Enqueues a submit behind the work; tells the ticket when it is known. */
    void submitBehind(Batch batch, LongConsumer ticket);

    @Override
    void close();
  }

  /** Makes a device for a task. */
  @FunctionalInterface
  public interface Devices {
    /** A device whose results the NIC can send. */
    Device open(Nic nic);
  }

  /**
   * What came of it.
   *
   * @param sendsPerSecond of all schedulers
   * @param availability share of the schedulers' time that was not spent in calls that send, wait
   *     or poll
   */
  public record Result(Way way, double sendsPerSecond, double availability) {}

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final long PIECE_NANOS = 50_000;

  private OverDecomposition() {}

  /** Takes the number of schedulers, of tasks each, and the milliseconds of each way. */
  public static void main(String[] args) throws Exception {
    int schedulers = args.length > 0 ? Integer.parseInt(args[0]) : 1;
    int tasks = args.length > 1 ? Integer.parseInt(args[1]) : 8;
    long millis = args.length > 2 ? Long.parseLong(args[2]) : 500;
    compare(schedulers, tasks, Duration.ofMillis(millis), timer(Duration.ofMillis(1)));
  }

  /** Prints what comes of each way. */
  public static void compare(int schedulers, int tasks, Duration time, Devices devices)
      throws InterruptedException, ExecutionException {
    for (Way way : Way.values()) {
      Result result = run(way, schedulers, tasks, time, devices);
      System.out.printf(
          Locale.ROOT,
          "%-9s %2d x %3d tasks %9.0f sends/s, schedulers %5.1f %% available%n",
          result.way,
          schedulers,
          tasks,
          result.sendsPerSecond,
          100 * result.availability);
    }
    System.out.println("valid: every result has arrived");
  }

  /** Devices of the CPU, whose work takes that time and no processor. */
  public static Devices timer(Duration work) {
    return nic -> new Timer(nic, work);
  }

  /** Runs schedulers for some time; throws unless every result arrives. */
  public static Result run(Way way, int schedulers, int tasks, Duration time, Devices devices)
      throws InterruptedException, ExecutionException {
    try (Nic nic = Nic.open();
        ExecutorService threads = Executors.newFixedThreadPool(schedulers)) {
      List<Future<Scheduler>> running = new ArrayList<>();
      for (int i = 0; i < schedulers; i++) {
        Callable<Scheduler> scheduler =
            () -> {
              try (Scheduler s = new Scheduler(nic, way, tasks, devices)) {
                s.run(time);
                return s;
              }
            };
        running.add(threads.submit(scheduler));
      }
      double sends = 0;
      double available = 0;
      for (Future<Scheduler> each : running) {
        Scheduler s = each.get();
        sends += s.sends * 1e9 / s.wallNanos;
        available += 1 - (double) s.communicationNanos / s.wallNanos;
      }
      return new Result(way, sends, available / schedulers);
    }
  }

  /** One thread, its tasks and its sender. */
  private static final class Scheduler implements AutoCloseable {
    private final Way way;
    private final DeferredSender sender = DeferredSender.create();
    private final List<Task> tasks = new ArrayList<>();
    private long communicationNanos;
    private long wallNanos;
    private long sends;
    private long other;

    Scheduler(Nic nic, Way way, int count, Devices devices) {
      this.way = way;
      for (int i = 0; i < count; i++) {
        tasks.add(new Task(this, i, nic, devices.open(nic)));
      }
    }

    /** Message-driven: one step of a task that can go on, then a piece of other work. */
    void run(Duration time) throws InterruptedException {
      long began = System.nanoTime();
      long end = began + time.toNanos();
      int next = 0;
      for (long now = began; now < end; now = System.nanoTime()) {
        sender.doWork();
        for (int i = 0; i < tasks.size(); i++) {
          Task task = tasks.get(next);
          next = (next + 1) % tasks.size();
          if (task.sourceIsFree()) {
            communicationNanos += System.nanoTime() - now;
            task.step();
            now = System.nanoTime();
            break;
          }
        }
        communicationNanos += System.nanoTime() - now;
        doOtherWork();
      }
      wallNanos = System.nanoTime() - began;
      for (Task task : tasks) {
        sends += task.steps;
        task.finish();
      }
    }

    private void doOtherWork() {
      long end = System.nanoTime() + PIECE_NANOS;
      while (System.nanoTime() < end) {
        other = other * 6364136223846793005L + 1442695040888963407L;
      }
    }

    @Override
    public void close() {
      tasks.forEach(Task::close);
      sender.close();
    }
  }

  /** Device work and a send, again and again. */
  private static final class Task implements AutoCloseable {
    private final Scheduler scheduler;
    private final Device device;
    private final MemoryRegion neighbour;
    private final QueuePair qp;
    private final QueuePair there;
    private final Batch batch;
    private final DeferredChannel channel;
    private final CpuLanes initiator = CpuLanes.caller();
    private long steps;

    /** Of the queue pair, or of the sender for deferred sends. */
    private volatile long ticket = Status.DONE;

    Task(Scheduler scheduler, int index, Nic nic, Device device) {
      this.scheduler = scheduler;
      this.device = device;
      neighbour = nic.allocate(8, Access.REMOTE_WRITE);
      qp =
          nic.queuePair(
              scheduler.way == Way.IN_STREAM ? device.options() : QueuePairOptions.defaults());
      there = nic.queuePair(QueuePairOptions.defaults());
      qp.connect(there.address());
      there.connect(qp.address());
      batch = Batch.of(qp, new WorkRequest.Write(device.result().local(0, 8), neighbour.remote()));
      channel = scheduler.sender.channel(index, Destination.of(qp));
    }

    boolean sourceIsFree() {
      long now = ticket;
      if (steps == 0) {
        return true;
      }
      return (scheduler.way == Way.DEFERRED ? scheduler.sender.poll(now) : qp.poll(now))
          == Status.DONE;
    }

    void step() throws InterruptedException {
      device.work(++steps);
      long began = System.nanoTime();
      switch (scheduler.way) {
        case BLOCKING -> {
          device.await(PATIENCE);
          ticket = taken(initiator.submit(batch, PATIENCE));
        }
        case DEFERRED -> ticket = taken(channel.send(batch, SendOrder.ORDERED, device.stream()));
        case IN_STREAM -> {
          ticket = Status.PENDING;
          device.submitBehind(batch, known -> ticket = taken(known));
        }
      }
      scheduler.communicationNanos += System.nanoTime() - began;
    }

    void finish() throws InterruptedException {
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (!sourceIsFree()) {
        check(System.nanoTime() < deadline, "a send is stuck: " + Status.describe(ticket));
        scheduler.sender.doWork();
        Thread.yield();
      }
      long arrived = neighbour.segment().get(ValueLayout.JAVA_LONG, 0);
      check(arrived == steps, "result " + arrived + " instead of " + steps);
    }

    @Override
    public void close() {
      batch.close();
      qp.close();
      there.close();
      initiator.close();
      neighbour.close();
      device.close();
    }
  }

  /** Stands in for a device: a stream of the CPU. */
  private static final class Timer implements Device {
    private final MemoryRegion result;
    private final HostStream stream = HostStream.create("timer");
    private final CpuLanes initiator = CpuLanes.caller();
    private final Duration time;

    Timer(Nic nic, Duration time) {
      this.time = time;
      result = nic.allocate(8);
    }

    @Override
    public MemoryRegion result() {
      return result;
    }

    @Override
    public DeviceStream stream() {
      return stream;
    }

    @Override
    public QueuePairOptions options() {
      return QueuePairOptions.defaults();
    }

    @Override
    public void work(long value) {
      stream.delay(time);
      stream.enqueue(() -> result.segment().set(ValueLayout.JAVA_LONG, 0, value));
    }

    @Override
    public void await(Duration patience) throws InterruptedException {
      check(stream.await(patience), "the device is stuck");
    }

    @Override
    public void submitBehind(Batch batch, LongConsumer ticket) {
      stream.enqueue(() -> ticket.accept(initiator.submit(batch)));
    }

    @Override
    public void close() {
      stream.close();
      initiator.close();
      result.close();
    }
  }

  private static long taken(long ticket) {
    check(ticket >= 0, ticket >= 0 ? "" : Status.describe(ticket));
    return ticket;
  }

  private static void check(boolean right, String what) {
    if (!right) {
      throw new IllegalStateException(what);
    }
  }
}
