// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.shim;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.gpuverbs.internal.ffi.Native;

/**
 * The functions of native/include/gpuverbs.h as the rest calls them: cold ones through the
 * generated bindings, with their errors as exceptions; hot ones with pointers as longs, so that a
 * call allocates nothing and checks no segment's liveness, which callers see to by a {@code
 * UseGate}. Call only after {@link NativeLibrary#load} gave null.
 */
public final class Calls {
  /** May wait for its turn, so it must not hold off safepoints. */
  private static final MethodHandle SUBMIT =
      handle(Native.gv_submit$address(), JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT);

  private static final MethodHandle POLL =
      critical(Native.gv_poll$address(), JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle COMPLETE =
      critical(Native.gv_complete$address(), JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT);
  private static final MethodHandle POST_RECEIVE =
      critical(
          Native.gv_post_receive$address(), JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);

  /** May wake sleeping lanes, which is a system call. */
  private static final MethodHandle LANES_SUBMIT =
      handle(
          Native.gv_lanes_submit$address(),
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_INT,
          JAVA_INT);

  private Calls() {}

  private static MethodHandle handle(
      MemorySegment function, MemoryLayout result, MemoryLayout... arguments) {
    return Linker.nativeLinker().downcallHandle(function, FunctionDescriptor.of(result, arguments));
  }

  private static MethodHandle critical(
      MemorySegment function, MemoryLayout result, MemoryLayout... arguments) {
    return Linker.nativeLinker()
        .downcallHandle(
            function, FunctionDescriptor.of(result, arguments), Linker.Option.critical(false));
  }

  /** The gv_qp that was made of that gv_qp_attr. */
  public static long qpCreate(MemorySegment attr) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      NativeError error = new NativeError(arena);
      error.check("a queue pair can't be created", Native.gv_qp_create(attr, out, error.segment()));
      return out.get(JAVA_LONG, 0);
    }
  }

  /** State RTS. */
  public static void qpReady(long qp, int number) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.check(
          "queue pair " + number + " can't be made ready",
          Native.gv_qp_ready(pointer(qp), number, error.segment()));
    }
  }

  /** State RESET. */
  public static void qpReset(long qp) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.check("a queue pair can't be reset", Native.gv_qp_reset(pointer(qp), error.segment()));
    }
  }

  /** Ends every wait on the queue. */
  public static void qpMark(long qp, int state) {
    Native.gv_qp_mark(pointer(qp), state);
  }

  /** Frees the queue's memory. */
  public static void qpDestroy(long qp) {
    Native.gv_qp_destroy(pointer(qp));
  }

  /** The address of an owner-bit CQ ring. */
  public static long cqCreate(int depth) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      NativeError error = new NativeError(arena);
      error.check(
          "a completion queue can't be created", Native.gv_cq_create(depth, out, error.segment()));
      return out.get(JAVA_LONG, 0);
    }
  }

  /** Frees a CQ ring. */
  public static void cqDestroy(long ring, int depth) {
    Native.gv_cq_destroy(ring, depth);
  }

  /** The gv_lanes. */
  public static long lanesStart(int lanes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      NativeError error = new NativeError(arena);
      error.check(
          lanes + " lane threads can't be started",
          Native.gv_lanes_start(lanes, out, error.segment()));
      return out.get(JAVA_LONG, 0);
    }
  }

  /** Whether no lane holds a batch of the queue. */
  public static boolean lanesIdle(long lanes, long sq) {
    return Native.gv_lanes_idle(pointer(lanes), pointer(sq)) != 0;
  }

  /** Joins the threads. */
  public static void lanesStop(long lanes) {
    Native.gv_lanes_stop(pointer(lanes));
  }

  /** A ticket or a sentinel. */
  public static long submit(long sq, long requests, int count, int wqebbs) {
    try {
      return (long) SUBMIT.invokeExact(sq, requests, count, wqebbs);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** A ticket or a sentinel. */
  public static long lanesSubmit(long lanes, long sq, long requests, int count, int wqebbs) {
    try {
      return (long) LANES_SUBMIT.invokeExact(lanes, sq, requests, count, wqebbs);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** 0, a sentinel or a syndrome. */
  public static long poll(long sq, long ticket) {
    try {
      return (long) POLL.invokeExact(sq, ticket);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** The WQE index of a full CQ's completion. */
  public static long complete(long sq, int wqeCounter, int syndrome) {
    try {
      return (long) COMPLETE.invokeExact(sq, wqeCounter, syndrome);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** The receive's index or a sentinel. */
  public static long postReceive(long qp, long segments, int count, long completed) {
    try {
      return (long) POST_RECEIVE.invokeExact(qp, segments, count, completed);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  private static MemorySegment pointer(long address) {
    return MemorySegment.ofAddress(address);
  }

  static RuntimeException unexpected(Throwable t) {
    if (t instanceof Error e) {
      throw e;
    }
    return t instanceof RuntimeException e ? e : new IllegalStateException("a downcall threw", t);
  }
}
