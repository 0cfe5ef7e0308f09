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
 * What a deferred send costs the thread that makes it, beside a plain submit of the same batch of
 * one request. The submitting thread plays a NIC that is never late. Sampled by bursts, so that the
 * median tells what a call costs where a machine that does other things too spoils the mean.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@OperationsPerInvocation(DeferredRig.BURST)
public class DeferredSends extends DeferredRig {
  private final HostStream busy = HostStream.create("busy");
  private CountDownLatch leave;

  /** Gives the busy stream something to do. */
  @Setup(Level.Invocation)
  public void begin() {
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
      queue.finish();
      if (sender.doWork() == 0) {
        Thread.yield();
      }
    }
    queue.finish();
  }

  /** Ends the busy stream. */
  @TearDown(Level.Trial)
  public void closeBusy() {
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

  /** As {@link #fastPath}, with stages, which complete within the call. */
  @Benchmark
  public Object fastPathWithStages() {
    Object send = null;
    for (int i = 0; i < BURST; i++) {
      send = channel.sendAsync(batch, SendOrder.ORDERED, idle);
    }
    return send;
  }
}
