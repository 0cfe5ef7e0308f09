// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.SubmitPolicy;
import org.gpuverbs.internal.ffi.Native;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The same prebuilt batch handed to gv_submit from C, through JNI, through FFM and by the library's
 * API: what calling from Java costs. One thread, EXCLUSIVE, a NIC that is never late.
 *
 * <p>{@code ffm_critical} is in place here alone: an exclusive queue with room never waits, while
 * the library can't know that and so does not call submit that way.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@State(Scope.Thread)
public class FfmCost {
  private static final int CALLS = 1000;
  private static final FunctionDescriptor SUBMIT =
      FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT);

  // Nested, so that these come after the setup, which loads the library.
  private static final class Ffm {
    static final MethodHandle PLAIN =
        Linker.nativeLinker().downcallHandle(Native.gv_submit$address(), SUBMIT);
    static final MethodHandle CRITICAL =
        Linker.nativeLinker()
            .downcallHandle(Native.gv_submit$address(), SUBMIT, Linker.Option.critical(false));
  }

  private static final class Loop {
    static final MethodHandle TWIN =
        Linker.nativeLinker()
            .downcallHandle(
                Twin.loop(),
                FunctionDescriptor.of(
                    JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT));
  }

  /** Requests a batch. */
  @Param({"1", "4", "16", "64"})
  public int batch;

  private QuietQueue queue;
  private CpuLanes caller;
  private Batch prebuilt;
  private long sq;
  private long requests;
  private long function;

  /** Makes the queue. */
  @Setup
  public void open() {
    queue = new QuietQueue(SubmitPolicy.EXCLUSIVE);
    caller = CpuLanes.caller();
    prebuilt = queue.batch(batch);
    sq = queue.address();
    requests = queue.requests(batch).address();
    function = Native.gv_submit$address().address();
  }

  /** {@value #CALLS} calls inside one downcall: the work itself. */
  @Benchmark
  @OperationsPerInvocation(CALLS)
  public long c_loop() throws Throwable {
    return taken((long) Loop.TWIN.invokeExact(function, sq, requests, batch, batch, CALLS));
  }

  /** Through JNI. */
  @Benchmark
  public long jni() {
    queue.finish();
    return taken(Twin.submit(function, sq, requests, batch, batch));
  }

  /** Through FFM, as the library does. */
  @Benchmark
  public long ffm() throws Throwable {
    queue.finish();
    return taken((long) Ffm.PLAIN.invokeExact(sq, requests, batch, batch));
  }

  /** Through FFM without the transition to native. */
  @Benchmark
  public long ffm_critical() throws Throwable {
    queue.finish();
    return taken((long) Ffm.CRITICAL.invokeExact(sq, requests, batch, batch));
  }

  /** The library's call, with all its checks. */
  @Benchmark
  public long api() {
    queue.finish();
    return taken(caller.submit(prebuilt));
  }

  private static long taken(long ticket) {
    if (ticket < 0) {
      throw new IllegalStateException("submit ended with " + ticket);
    }
    return ticket;
  }

  /** Nothing may be lost. */
  @TearDown
  public void close() {
    queue.settle();
    caller.close();
    queue.close();
  }
}
