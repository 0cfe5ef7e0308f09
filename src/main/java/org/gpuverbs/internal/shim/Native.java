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
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * The functions of native/include/gpuverbs.h. Pointers are longs, so that a call allocates nothing
 * and no segment's liveness is checked twice: callers keep the memory alive by a {@code UseGate}.
 * Call only after {@link NativeLibrary#load} gave null.
 */
public final class Native {
  private static final Linker LINKER = Linker.nativeLinker();

  private static final MethodHandle VERSION = handle("gv_version", descriptor(JAVA_LONG));
  private static final MethodHandle QP_CREATE =
      handle("gv_qp_create", descriptor(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle QP_READY =
      handle("gv_qp_ready", descriptor(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle QP_RESET =
      handle("gv_qp_reset", descriptor(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle QP_MARK =
      handle("gv_qp_mark", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
  private static final MethodHandle QP_DESTROY =
      handle("gv_qp_destroy", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle CQ_CREATE =
      handle("gv_cq_create", descriptor(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle CQ_DESTROY =
      handle("gv_cq_destroy", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
  // May wait for its turn, so it must not hold off safepoints.
  private static final MethodHandle SUBMIT =
      handle("gv_submit", descriptor(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
  private static final MethodHandle POLL =
      handle("gv_poll", descriptor(JAVA_LONG, JAVA_LONG, JAVA_LONG), Linker.Option.critical(false));
  private static final MethodHandle COMPLETE =
      handle(
          "gv_complete",
          descriptor(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT),
          Linker.Option.critical(false));
  private static final MethodHandle POST_RECEIVE =
      handle(
          "gv_post_receive",
          descriptor(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG),
          Linker.Option.critical(false));
  private static final MethodHandle LANES_START =
      handle("gv_lanes_start", descriptor(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle LANES_SUBMIT =
      handle(
          "gv_lanes_submit",
          descriptor(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
  private static final MethodHandle LANES_IDLE =
      handle("gv_lanes_idle", descriptor(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle LANES_STOP =
      handle("gv_lanes_stop", FunctionDescriptor.ofVoid(JAVA_LONG));

  private Native() {}

  private static FunctionDescriptor descriptor(MemoryLayout result, MemoryLayout... arguments) {
    return FunctionDescriptor.of(result, arguments);
  }

  private static MethodHandle handle(
      String name, FunctionDescriptor descriptor, Linker.Option... options) {
    return LINKER.downcallHandle(
        SymbolLookup.loaderLookup().findOrThrow(name), descriptor, options);
  }

  /** The library's version. */
  public static String version() {
    try {
      return Memory.string((long) VERSION.invokeExact(), 64);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** The gv_qp's address. {@code attr}: a gv_qp_attr. */
  public static long qpCreate(MemorySegment attr) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      NativeError error = new NativeError(arena);
      int rc = (int) QP_CREATE.invokeExact(attr.address(), out.address(), error.address());
      error.check("a queue pair can't be created", rc);
      return out.get(JAVA_LONG, 0);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** State RTS. */
  public static void qpReady(long qp, int number) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.check(
          "queue pair " + number + " can't be made ready",
          (int) QP_READY.invokeExact(qp, number, error.address()));
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** State RESET. */
  public static void qpReset(long qp) {
    try (Arena arena = Arena.ofConfined()) {
      NativeError error = new NativeError(arena);
      error.check("a queue pair can't be reset", (int) QP_RESET.invokeExact(qp, error.address()));
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Ends every wait on the queue. */
  public static void qpMark(long qp, int state) {
    try {
      QP_MARK.invokeExact(qp, state);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Frees the queue's memory. */
  public static void qpDestroy(long qp) {
    try {
      QP_DESTROY.invokeExact(qp);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** The address of an owner-bit CQ ring. */
  public static long cqCreate(int depth) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      NativeError error = new NativeError(arena);
      int rc = (int) CQ_CREATE.invokeExact(depth, out.address(), error.address());
      error.check("a completion queue can't be created", rc);
      return out.get(JAVA_LONG, 0);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Frees a CQ ring. */
  public static void cqDestroy(long ring, int depth) {
    try {
      CQ_DESTROY.invokeExact(ring, depth);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** A ticket or a sentinel. */
  public static long submit(long sq, long requests, int count, int wqebbs) {
    try {
      return (long) SUBMIT.invokeExact(sq, requests, count, wqebbs);
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

  /** The gv_lanes' address. */
  public static long lanesStart(int lanes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      NativeError error = new NativeError(arena);
      int rc = (int) LANES_START.invokeExact(lanes, out.address(), error.address());
      error.check(lanes + " lane threads can't be started", rc);
      return out.get(JAVA_LONG, 0);
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

  /** Whether no lane holds a batch of the queue; sq 0: of any. */
  public static boolean lanesIdle(long lanes, long sq) {
    try {
      return (int) LANES_IDLE.invokeExact(lanes, sq) != 0;
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Joins the threads. */
  public static void lanesStop(long lanes) {
    try {
      LANES_STOP.invokeExact(lanes);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  private static RuntimeException unexpected(Throwable t) {
    if (t instanceof Error e) {
      throw e;
    }
    return t instanceof RuntimeException e ? e : new IllegalStateException("a downcall threw", t);
  }
}
