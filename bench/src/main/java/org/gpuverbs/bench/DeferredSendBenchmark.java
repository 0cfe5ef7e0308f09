// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.gpuverbs.HostStream;
import org.gpuverbs.SendOrder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a deferred send costs the thread that makes it, beside a plain submit of the same batch.
 *
 * <p>Each invocation sends a burst into a queue that was empty, so that nobody waits for room; the
 * software NIC drains it meanwhile, on another core, in all variants alike. Sampled, so that the
 * median tells what a call costs where a machine that does other things too spoils the mean.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 4, time = 1)
@Fork(1)
@OperationsPerInvocation(DeferredRig.BURST)
public class DeferredSendBenchmark extends DeferredRig {
  private HostStream busy;
  private CountDownLatch leave;

  /** Gives the busy stream something to do. */
  @Setup(Level.Invocation)
  public void begin() {
    busy = HostStream.create("busy");
    leave = new CountDownLatch(1);
    CountDownLatch until = leave;
    busy.enqueue(
        () -> {
          try {
            until.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  /** Waits until the burst is over. */
  @TearDown(Level.Invocation)
  public void drain() {
    leave.countDown();
    while (sender.pending() > 0) {
      if (sender.doWork() == 0) {
        Thread.yield();
      }
    }
    awaitNic();
    busy.close();
  }

  /** The floor: submit, without any bookkeeping. */
  @Benchmark
  public long plainSubmit() {
    long ticket = 0;
    for (int i = 0; i < BURST; i++) {
      ticket = taken(caller.submit(batch));
    }
    return ticket;
  }

  /** The fast path: the stream is idle, so the call submits. */
  @Benchmark
  public long fastPath() {
    return burst();
  }

  /** A message without device work, with nothing ahead of it. */
  @Benchmark
  public long hostOnly() {
    long ticket = 0;
    for (int i = 0; i < BURST; i++) {
      ticket = taken(channel.send(batch, SendOrder.ORDERED));
    }
    return ticket;
  }

  /** The call alone while the device works: mark, copy, leave it for later. */
  @Benchmark
  public long deferredCall() {
    long ticket = 0;
    for (int i = 0; i < BURST; i++) {
      ticket = taken(channel.send(batch, SendOrder.ORDERED, busy));
    }
    return ticket;
  }

  /** As {@link #fastPath}, with stages. */
  @Benchmark
  public Object fastPathWithStages() {
    Object send = null;
    for (int i = 0; i < BURST; i++) {
      send = channel.sendAsync(batch, SendOrder.ORDERED, idle);
    }
    return send;
  }
}
