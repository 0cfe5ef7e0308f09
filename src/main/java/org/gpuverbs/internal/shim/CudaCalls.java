// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.shim;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Map;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.ffi.Native;
import org.gpuverbs.internal.ffi.gv_error;
import org.gpuverbs.internal.ffi.gv_pointer_info;
import org.jspecify.annotations.Nullable;

/**
 * The CUDA half of native/include/gpuverbs.h, as {@link Calls} is the rest. A GPU is a gv_gpu's
 * address; streams, events, modules and functions are CUDA's handles. Call only after {@link
 * NativeLibrary#load} gave null. None waits for a kernel, unless it says so.
 */
public final class CudaCalls {
  /** GV_MEMORY_* of gpuverbs.h. */
  public static final int MEMORY_DEVICE = Native.GV_MEMORY_DEVICE();

  /** Page-locked host memory. */
  public static final int MEMORY_PINNED = Native.GV_MEMORY_PINNED();

  /** Managed memory. */
  public static final int MEMORY_MANAGED = Native.GV_MEMORY_MANAGED();

  /** Memory of a stream-ordered pool. */
  public static final int MEMORY_POOL = Native.GV_MEMORY_POOL();

  /** Plain host memory, or freed. */
  public static final int MEMORY_UNKNOWN = Native.GV_MEMORY_UNKNOWN();

  private static final int EINVAL = 22;
  private static final int LOG_BYTES = 64 << 10;

  private static final MethodHandle SUBMIT =
      handle(
          Native.gv_gpu_submit$address(),
          FunctionDescriptor.of(
              JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT,
              JAVA_LONG, JAVA_LONG));
  private static final MethodHandle COPY_START =
      handle(
          Native.gv_copy_start$address(),
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle STREAM_QUERY =
      handle(
          Native.gv_stream_query$address(),
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  private static final MethodHandle STREAM_CHECK =
      handle(
          Native.gv_stream_check$address(),
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle EVENT_RECORD =
      handle(
          Native.gv_event_record$address(),
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle EVENT_QUERY =
      handle(
          Native.gv_event_query$address(),
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  private CudaCalls() {}

  /** A call that fills in a gv_error. */
  @FunctionalInterface
  private interface Call {
    int run(Arena arena, MemorySegment error);
  }

  private static MethodHandle handle(MemorySegment function, FunctionDescriptor descriptor) {
    return Linker.nativeLinker().downcallHandle(function, descriptor);
  }

  /** Why there is no GPU to be used; null if there is one. */
  public static @Nullable RdmaException cudaProblem() {
    return problem("no GPU can be used", (arena, error) -> Native.gv_cuda_available(error));
  }

  /** Why nothing can be compiled; null if it can. */
  public static @Nullable RdmaException nvrtcProblem() {
    return problem(
        "CUDA C++ can't be compiled here", (arena, error) -> Native.gv_nvrtc_available(error));
  }

  /** How many GPUs. */
  public static int count() {
    return (int)
        number(
            "GPUs can't be counted",
            JAVA_INT.byteSize(),
            (out, error) -> Native.gv_gpu_count(out, error));
  }

  /** Fills a gv_gpu_info. */
  public static void info(int ordinal, MemorySegment out) {
    check(
        "GPU " + ordinal + " can't be described",
        (arena, error) -> Native.gv_gpu_info_of(ordinal, out, error));
  }

  /** The gv_gpu of a primary context. */
  public static long open(int ordinal) {
    return number(
        "GPU " + ordinal + " can't be opened",
        JAVA_LONG.byteSize(),
        (out, error) -> Native.gv_gpu_open(ordinal, out, error));
  }

  /** The gv_gpu of somebody's context. */
  public static long borrow(long context) {
    return number(
        "CUDA context 0x" + Long.toHexString(context) + " can't be used",
        JAVA_LONG.byteSize(),
        (out, error) -> Native.gv_gpu_borrow(context, out, error));
  }

  /** Its CUcontext. */
  public static long context(long gpu) {
    return Native.gv_gpu_context(pointer(gpu));
  }

  /** Its CUdevice. */
  public static int ordinal(long gpu) {
    return Native.gv_gpu_ordinal(pointer(gpu));
  }

  /** Releases it; may wait for kernels. */
  public static void close(long gpu) {
    Native.gv_gpu_close(pointer(gpu));
  }

  /** What is wrong with the context; null if nothing is. */
  public static @Nullable RdmaException sickness(long gpu) {
    return problem(
        "the GPU can't be used any more",
        (arena, error) -> Native.gv_gpu_health(pointer(gpu), error));
  }

  /** Waits for everything that runs in the context, without a bound. */
  public static void synchronize(long gpu) {
    check("waiting for the GPU", (arena, error) -> Native.gv_gpu_synchronize(pointer(gpu), error));
  }

  /** Memory of a kind that can be allocated. */
  public static long allocate(long gpu, long bytes, int kind) {
    String what =
        bytes + " bytes of " + (kind == MEMORY_DEVICE ? "GPU" : "pinned host") + " memory";
    return number(
        what + " can't be had",
        JAVA_LONG.byteSize(),
        (out, error) -> Native.gv_gpu_allocate(pointer(gpu), bytes, kind, out, error));
  }

  /** Frees it; waits for kernels. */
  public static void free(long gpu, long address, int kind) {
    check(
        "memory can't be freed",
        (arena, error) -> Native.gv_gpu_free(pointer(gpu), address, kind, error));
  }

  /**
   * What the driver knows of an address.
   *
   * @param kind GV_MEMORY_*
   * @param ordinal the GPU that owns it, -1 unknown
   * @param gpuDirectRdma whether a NIC can register it
   * @param context its CUcontext
   * @param base where the allocation begins
   * @param bytes how long the allocation is
   */
  public record Pointer(
      int kind, int ordinal, boolean gpuDirectRdma, long context, long base, long bytes) {}

  /** Describes an address. */
  public static Pointer describe(long gpu, long address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = gv_pointer_info.allocate(arena);
      check(
          "an address can't be looked up",
          (inner, error) -> Native.gv_gpu_describe(pointer(gpu), address, out, error));
      return new Pointer(
          gv_pointer_info.kind(out),
          gv_pointer_info.ordinal(out),
          gv_pointer_info.gpu_direct_rdma(out) != 0,
          gv_pointer_info.context(out),
          gv_pointer_info.base(out),
          gv_pointer_info.bytes(out));
    }
  }

  /** Copies and waits for the copy, not for kernels. */
  public static void copy(long gpu, long to, long from, long bytes) {
    check(
        "a copy of " + bytes + " bytes",
        (arena, error) -> Native.gv_gpu_copy(pointer(gpu), to, from, bytes, error));
  }

  /** A non-blocking stream. */
  public static long streamCreate(long gpu) {
    return number(
        "a stream can't be created",
        JAVA_LONG.byteSize(),
        (out, error) -> Native.gv_stream_create(pointer(gpu), out, error));
  }

  /** Destroys a stream of ours. */
  public static void streamDestroy(long gpu, long stream) {
    check(
        "a stream can't be destroyed",
        (arena, error) -> Native.gv_stream_destroy(pointer(gpu), stream, error));
  }

  /** Throws if the stream belongs elsewhere or is capturing. */
  public static void streamCheck(long gpu, long stream) {
    check(
        "stream 0x" + Long.toHexString(stream) + " can't be used",
        (arena, error) -> Native.gv_stream_check(pointer(gpu), stream, error));
  }

  /** An event. */
  public static long eventCreate(long gpu) {
    return number(
        "an event can't be created",
        JAVA_LONG.byteSize(),
        (out, error) -> Native.gv_event_create(pointer(gpu), out, error));
  }

  /** Destroys an event of ours. */
  public static void eventDestroy(long gpu, long event) {
    check(
        "an event can't be destroyed",
        (arena, error) -> Native.gv_event_destroy(pointer(gpu), event, error));
  }

  /** Records an event behind the stream's work. */
  public static void eventRecord(long gpu, long event, long stream) {
    check(
        "an event can't be recorded",
        (arena, error) -> Native.gv_event_record(pointer(gpu), event, stream, error));
  }

  /** Whether it has come; a dead context counts as that, since nothing runs in it any more. */
  public static boolean eventDone(long gpu, long event) {
    return Native.gv_event_query(pointer(gpu), event, MemorySegment.NULL) != 1;
  }

  /**
   * Machine code.
   *
   * @param address to be freed by {@link #imageFree}
   * @param bytes its length
   */
  public record Image(long address, long bytes) {}

  /**
   * Compiles CUDA C++ to the image that the GPU runs.
   *
   * @throws RdmaException with the compiler's messages if the source is wrong
   */
  public static Image compile(
      long gpu, String source, String name, Map<String, String> headers, List<String> options) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment image = arena.allocate(JAVA_LONG, 2);
      MemorySegment log = arena.allocate(LOG_BYTES);
      MemorySegment error = gv_error.allocate(arena);
      List<String> names = List.copyOf(headers.keySet());
      int rc =
          Native.gv_compile(
              pointer(gpu),
              arena.allocateFrom(source),
              arena.allocateFrom(name),
              strings(arena, names.stream().map(headers::get).toList()),
              strings(arena, names),
              names.size(),
              strings(arena, options),
              options.size(),
              image,
              image.asSlice(JAVA_LONG.byteSize()),
              log,
              LOG_BYTES,
              error);
      if (rc != 0) {
        String messages = log.getString(0).strip();
        String reason = gv_error.text(error).getString(0);
        throw new RdmaException(
            name + " can't be compiled", 0, 0, 0, messages.isEmpty() ? reason : messages, null);
      }
      return new Image(image.get(JAVA_LONG, 0), image.get(JAVA_LONG, JAVA_LONG.byteSize()));
    }
  }

  private static MemorySegment strings(Arena arena, List<String> texts) {
    MemorySegment pointers = arena.allocate(ADDRESS, Math.max(1, texts.size()));
    for (int i = 0; i < texts.size(); i++) {
      pointers.setAtIndex(ADDRESS, i, arena.allocateFrom(texts.get(i)));
    }
    return pointers;
  }

  /** Frees a compiled image. */
  public static void imageFree(Image image) {
    Native.gv_image_free(image.address());
  }

  /** Loads a cubin, or PTX that ends with NUL. */
  public static long moduleLoad(long gpu, long image) {
    return number(
        "GPU code can't be loaded",
        JAVA_LONG.byteSize(),
        (out, error) -> Native.gv_module_load(pointer(gpu), image, out, error));
  }

  /** Unloads a module; may wait for kernels. */
  public static void moduleUnload(long gpu, long module) {
    check(
        "GPU code can't be unloaded",
        (arena, error) -> Native.gv_module_unload(pointer(gpu), module, error));
  }

  /** A kernel of a module, loaded. */
  public static long function(long gpu, long module, String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocateFrom(name);
      return number(
          "no kernel " + name,
          JAVA_LONG.byteSize(),
          (out, error) -> Native.gv_module_function(pointer(gpu), module, text, out, error));
    }
  }

  /** Sizes of a kernel's parameters in bytes; null where the driver can't tell. */
  public static long @Nullable [] parameters(long gpu, long function) {
    int room = 256;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sizes = arena.allocate(JAVA_LONG, room);
      int count =
          Native.gv_function_parameters(pointer(gpu), function, sizes, room, MemorySegment.NULL);
      return count < 0 ? null : sizes.asSlice(0, count * JAVA_LONG.byteSize()).toArray(JAVA_LONG);
    }
  }

  /** Launches a kernel; {@code args} points to pointers to its parameters. */
  public static void launch(
      long gpu,
      long function,
      long stream,
      int[] grid,
      int[] block,
      int shared,
      MemorySegment args) {
    check(
        "a kernel can't be launched",
        (arena, error) ->
            Native.gv_launch(
                pointer(gpu),
                function,
                stream,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared,
                args,
                error));
  }

  /** The gv_qp of a queue of that GPU. */
  public static long qpCreate(long gpu, MemorySegment attr, int placement) {
    return number(
        "a queue pair of the GPU can't be created",
        JAVA_LONG.byteSize(),
        (out, error) -> Native.gv_gpu_qp_create(pointer(gpu), attr, placement, out, error));
  }

  /** Copies the device's gv_sq to {@code out}. */
  public static void qpRead(long qp, MemorySegment out) {
    check(
        "a queue pair of the GPU can't be read",
        (arena, error) -> Native.gv_gpu_qp_read(pointer(qp), out, error));
  }

  /** 0 or a negative errno. Allocates nothing. */
  public static int submit(
      long qp,
      long function,
      long stream,
      long requests,
      long starts,
      int count,
      int wqebbs,
      long base) {
    try {
      return (int)
          SUBMIT.invokeExact(qp, function, stream, requests, starts, count, wqebbs, base, 0L);
    } catch (Throwable t) {
      throw Calls.unexpected(t);
    }
  }

  /** 0 or a negative errno. Allocates nothing. */
  public static int copyStart(long gpu, long stream, long to, long from, long bytes) {
    try {
      return (int) COPY_START.invokeExact(gpu, stream, to, from, bytes);
    } catch (Throwable t) {
      throw Calls.unexpected(t);
    }
  }

  /** 0 done, 1 not yet, or a negative errno. Allocates nothing. */
  public static int streamQuery(long gpu, long stream) {
    try {
      return (int) STREAM_QUERY.invokeExact(gpu, stream, 0L);
    } catch (Throwable t) {
      throw Calls.unexpected(t);
    }
  }

  /** 0; -EBUSY: the stream is capturing; -EINVAL: another context's. Allocates nothing. */
  public static int streamState(long gpu, long stream) {
    try {
      return (int) STREAM_CHECK.invokeExact(gpu, stream, 0L);
    } catch (Throwable t) {
      throw Calls.unexpected(t);
    }
  }

  /** 0 or a negative errno. Allocates nothing. */
  public static int eventMark(long gpu, long event, long stream) {
    try {
      return (int) EVENT_RECORD.invokeExact(gpu, event, stream, 0L);
    } catch (Throwable t) {
      throw Calls.unexpected(t);
    }
  }

  /** 0 done, 1 not yet, or a negative errno. Allocates nothing. */
  public static int eventQuery(long gpu, long event) {
    try {
      return (int) EVENT_QUERY.invokeExact(gpu, event, 0L);
    } catch (Throwable t) {
      throw Calls.unexpected(t);
    }
  }

  private static MemorySegment pointer(long address) {
    return MemorySegment.ofAddress(address);
  }

  /** A call that writes one number. */
  @FunctionalInterface
  private interface Output {
    int run(MemorySegment out, MemorySegment error);
  }

  private static long number(String what, long bytes, Output call) {
    long[] result = new long[1];
    check(
        what,
        (arena, error) -> {
          MemorySegment out = arena.allocate(JAVA_LONG);
          int rc = call.run(out, error);
          result[0] = bytes == JAVA_INT.byteSize() ? out.get(JAVA_INT, 0) : out.get(JAVA_LONG, 0);
          return rc;
        });
    return result[0];
  }

  private static void check(String what, Call call) {
    RdmaException problem = problem(what, call);
    if (problem == null) {
      return;
    }
    if (problem.errno() == EINVAL) {
      throw new IllegalArgumentException(what + ": " + problem.hint());
    }
    throw problem;
  }

  private static @Nullable RdmaException problem(String what, Call call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment error = gv_error.allocate(arena);
      int rc = call.run(arena, error);
      // The text names the CUDA error.
      return rc == 0
          ? null
          : new RdmaException(what, 0, -rc, 0, gv_error.text(error).getString(0), null);
    }
  }
}
