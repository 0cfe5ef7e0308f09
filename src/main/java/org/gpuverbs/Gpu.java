// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.gpuverbs.internal.cuda.CudaCopyEngine;
import org.gpuverbs.internal.cuda.DeviceCode;
import org.gpuverbs.internal.cuda.PinnedPool;
import org.gpuverbs.internal.cuda.Reaper;
import org.gpuverbs.internal.deferred.EventPool;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.UseGate;
import org.gpuverbs.internal.shim.CudaCalls;
import org.gpuverbs.internal.softnic.SoftNic;
import org.jspecify.annotations.Nullable;

/**
 * A GPU whose kernels submit: where its memory, kernels, streams and queue pairs come from. Any
 * thread.
 *
 * <pre>{@code
 * try (Gpu gpu = Gpu.open(0);
 *     Nic nic = Nic.open();
 *     QueuePair qp = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build())) {
 *   Kernel kernel = gpu.compile(source, "exchange");
 *   kernel.launch(0, 1, 32, qp, buffer);
 * }
 * }</pre>
 *
 * <p>The CUDA driver and NVRTC are looked for at run time; {@link #unavailabilityCause} says what
 * is missing. No call waits for a kernel, except close, within its deadline.
 */
public final class Gpu implements AutoCloseable {
  /** What {@link #close()}, and closing a buffer, wait for kernels. */
  public static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  /**
   * A compiler option for {@link #compile(String, String, List)}: the device API's checked build,
   * in which a second submitter on an {@linkplain SubmitPolicy#EXCLUSIVE exclusive} queue gets
   * {@link Status#QP_ERROR} and puts the queue pair in error. Costs an atomic a call; for tests.
   */
  public static final String CHECK = "-DGPUVERBS_CHECK";

  /** The device code orders memory by scopes, which came with compute capability 7.0. */
  private static final int LEAST_COMPUTE_MAJOR = 7;

  private final GpuInfo info;
  private final long handle;
  private final long context;
  private final UseGate gate = new UseGate();
  private final PinnedPool pinned;
  private final Reaper reaper;
  private final CudaCopyEngine copies;
  private final EventPool events = new EventPool(new GpuEvents(this));
  private final Set<QueuePair> queuePairs = ConcurrentHashMap.newKeySet();
  private final Set<GpuStream> streams = ConcurrentHashMap.newKeySet();
  private final Set<DeviceBuffer> buffers = ConcurrentHashMap.newKeySet();

  /** Functions of the built-in kernels by name. */
  private final Map<String, Long> builtIn = new ConcurrentHashMap<>();

  private final List<Long> modules = new ArrayList<>();

  /** Modules by source and options. */
  private final Map<List<String>, Long> compiled = new ConcurrentHashMap<>();

  private final List<Runnable> parked = new ArrayList<>();
  private long kernels;
  private DeviceCode.@Nullable Source kernelSource;

  private Gpu(long handle) {
    this.handle = handle;
    this.context = CudaCalls.context(handle);
    this.info = GpuInfo.of(CudaCalls.ordinal(handle));
    this.pinned = new PinnedPool(handle);
    this.reaper = new Reaper("gpuverbs-gpu" + info.ordinal());
    this.copies = new CudaCopyEngine(handle, pinned);
  }

  /**
   * Whether there is a GPU to use. Never throws.
   *
   * @return true if {@link #open} can work
   */
  public static boolean isAvailable() {
    return unavailabilityCause() == null;
  }

  /**
   * Why {@link #isAvailable()} is false: no native library, no driver, no GPU. The {@linkplain
   * RdmaException#hint hint} says what to do.
   *
   * @return the reason, or null if available
   */
  public static @Nullable RdmaException unavailabilityCause() {
    RdmaException cause = GpuVerbs.unavailabilityCause();
    return cause != null ? cause : CudaCalls.cudaProblem();
  }

  /**
   * Why CUDA C++ can't be compiled here.
   *
   * @return the reason, or null if {@link #compile(String, String)} can work
   */
  public static @Nullable RdmaException compilerUnavailabilityCause() {
    RdmaException cause = GpuVerbs.unavailabilityCause();
    return cause != null ? cause : CudaCalls.nvrtcProblem();
  }

  /**
   * The GPUs of this machine.
   *
   * @return by ordinal; empty if there is none to use
   */
  public static List<GpuInfo> list() {
    if (!isAvailable()) {
      return List.of();
    }
    List<GpuInfo> infos = new ArrayList<>();
    int count = CudaCalls.count();
    for (int i = 0; i < count; i++) {
      infos.add(GpuInfo.of(i));
    }
    return infos;
  }

  /**
   * Opens a GPU by its primary context, which the CUDA runtime and most libraries use too.
   *
   * @param ordinal as in {@link #list()}
   * @return the GPU, to be closed
   * @throws RdmaException if no GPU can be used, or this one is too old
   * @throws IllegalArgumentException if there is no such GPU
   */
  public static Gpu open(int ordinal) {
    ensureAvailable();
    return opened(CudaCalls.open(ordinal));
  }

  /**
   * Borrows a context that another library owns, and must keep until close.
   *
   * @param cuContext a CUcontext, as that library gives it
   * @return the GPU, to be closed before the context is destroyed
   * @throws RdmaException if no GPU can be used, or this is no context
   * @throws IllegalArgumentException if {@code cuContext} is 0
   */
  public static Gpu of(long cuContext) {
    ensureAvailable();
    return opened(CudaCalls.borrow(cuContext));
  }

  private static void ensureAvailable() {
    RdmaException cause = unavailabilityCause();
    if (cause != null) {
      throw new RdmaException(
          cause.getMessage(), cause.code(), cause.errno(), 0, cause.hint(), cause);
    }
  }

  private static Gpu opened(long handle) {
    try {
      Gpu gpu = new Gpu(handle);
      if (gpu.info.computeMajor() < LEAST_COMPUTE_MAJOR) {
        throw new RdmaException(
            gpu.info.name()
                + " has compute capability "
                + gpu.info.computeMajor()
                + "."
                + gpu.info.computeMinor(),
            0,
            0,
            0,
            "the device code needs " + LEAST_COMPUTE_MAJOR + ".0 or newer",
            null);
      }
      return gpu;
    } catch (RuntimeException | Error e) {
      CudaCalls.close(handle);
      throw e;
    }
  }

  /**
   * What it is.
   *
   * @return as in {@link #list()}
   */
  public GpuInfo info() {
    return info;
  }

  /**
   * The CUDA context in which everything of this GPU lives.
   *
   * @return a CUcontext
   */
  public long context() {
    return context;
  }

  /**
   * What is wrong with the context: a kernel's fault is sticky and ends everything in it.
   *
   * @return the reason, or null if it is well
   * @throws IllegalStateException if closed
   */
  public @Nullable RdmaException sickness() {
    enter();
    try {
      return CudaCalls.sickness(handle);
    } finally {
      exit();
    }
  }

  /**
   * Allocates memory for kernels.
   *
   * @param bytes 1 or more
   * @param kind GPU memory, or pinned host memory
   * @return the buffer with any content, to be closed
   * @throws IllegalArgumentException if {@code bytes} is below 1
   * @throws RdmaException if there is not enough
   * @throws IllegalStateException if closed
   */
  public DeviceBuffer allocate(long bytes, MemoryKind kind) {
    if (bytes < 1) {
      throw new IllegalArgumentException("allocate(" + bytes + "): take 1 byte or more");
    }
    return adopt(() -> DeviceBuffer.allocate(this, bytes, kind));
  }

  DeviceBuffer adopt(Supplier<DeviceBuffer> make) {
    enter();
    try {
      DeviceBuffer buffer = make.get();
      buffers.add(buffer);
      return buffer;
    } finally {
      exit();
    }
  }

  /**
   * Compiles CUDA C++ with NVRTC, for this GPU; takes a second or more with the device API, the
   * first time. The source may {@code #include <gpuverbs/device.h>}.
   *
   * @param source the text
   * @param entry the kernel, declared {@code extern "C" __global__}
   * @return the kernel
   * @throws RdmaException if there is no NVRTC, or the source has errors: the hint has the
   *     compiler's messages with line numbers, or if it has no such kernel
   * @throws IllegalStateException if closed
   */
  public Kernel compile(String source, String entry) {
    return compile(source, entry, List.of());
  }

  /**
   * Compiles CUDA C++ as {@link #compile(String, String)} does, with options for NVRTC, such as
   * {@link #CHECK}, {@code -DNAME=VALUE} or {@code -lineinfo}.
   *
   * @param source the text
   * @param entry the kernel, declared {@code extern "C" __global__}
   * @param options each as NVRTC takes it
   * @return the kernel
   * @throws RdmaException as {@link #compile(String, String)}, or if NVRTC refuses an option
   * @throws IllegalStateException if closed
   */
  public Kernel compile(String source, String entry, List<String> options) {
    List<String> key = new ArrayList<>(options);
    key.add(source);
    enter();
    try {
      long module =
          compiled.computeIfAbsent(
              List.copyOf(key),
              fresh -> {
                long made = DeviceCode.compile(handle, source, entry + ".cu", options);
                synchronized (modules) {
                  modules.add(made);
                }
                return made;
              });
      try {
        return new Kernel(this, entry, CudaCalls.function(handle, module, entry));
      } catch (RdmaException e) {
        throw new RdmaException(
            "the source has no kernel " + entry,
            0,
            e.errno(),
            0,
            "declare it extern \"C\" __global__ void " + entry + "(...); " + e.hint(),
            e);
      }
    } finally {
      exit();
    }
  }

  /**
   * Compiles CUDA C++ as {@link #compile(String, String)} does, for a library that loads and
   * launches kernels itself.
   *
   * @param source the text
   * @return a cubin for this GPU, as cuModuleLoadData takes it
   * @throws RdmaException as {@link #compile(String, String)}
   * @throws IllegalStateException if closed
   */
  public byte[] image(String source) {
    return image(source, List.of());
  }

  /**
   * Compiles CUDA C++ as {@link #image(String)} does, with options for NVRTC.
   *
   * @param source the text
   * @param options as in {@link #compile(String, String, List)}
   * @return a cubin for this GPU, as cuModuleLoadData takes it
   * @throws RdmaException as {@link #compile(String, String, List)}
   * @throws IllegalStateException if closed
   */
  public byte[] image(String source, List<String> options) {
    enter();
    try {
      return DeviceCode.image(handle, source, "image.cu", options);
    } finally {
      exit();
    }
  }

  /** The built-in kernel of a policy, loaded. With the gate held. */
  long builtIn(SubmitPolicy policy) {
    String name = DeviceCode.kernel(policy.handOver().code(), policy.fenceMode().code());
    return builtIn.computeIfAbsent(
        name, missing -> CudaCalls.function(handle, builtInModule(), missing));
  }

  private long builtInModule() {
    synchronized (modules) {
      if (kernels != 0) {
        return kernels;
      }
      StringBuilder why = new StringBuilder();
      for (DeviceCode.Source source : DeviceCode.Source.values()) {
        try {
          Long module = DeviceCode.load(handle, info.architecture(), source);
          if (module != null) {
            kernels = module;
            kernelSource = source;
            modules.add(module);
            Log.LOGGER.log(Level.DEBUG, () -> this + ": built-in kernels from " + source);
            return module;
          }
          why.append(source).append(": the jar has none for this GPU; ");
        } catch (RdmaException | IllegalArgumentException e) {
          why.append(source).append(": ").append(e.getMessage()).append("; ");
        }
      }
      throw new RdmaException(
          "the built-in kernels can't be loaded on " + this,
          0,
          0,
          0,
          why + "build the jar where nvcc or clang is installed, or install NVRTC",
          null);
    }
  }

  /** Where the built-in kernels were loaded from; null before the first need. */
  DeviceCode.@Nullable Source kernelSource() {
    synchronized (modules) {
      return kernelSource;
    }
  }

  long handle() {
    return handle;
  }

  PinnedPool pinned() {
    return pinned;
  }

  Reaper reaper() {
    return reaper;
  }

  EventPool events() {
    return events;
  }

  CudaCopyEngine copies() {
    return copies;
  }

  void enter() {
    if (!gate.enter()) {
      throw new IllegalStateException(this + " is closed");
    }
  }

  /** False once it is closed. */
  boolean tryEnter() {
    return gate.enter();
  }

  void exit() {
    gate.exit();
  }

  /** Copies between a buffer and host memory, heap memory by way of a native copy. */
  void copy(DeviceBuffer buffer, long offset, MemorySegment host, boolean toBuffer) {
    enter();
    try (Arena arena = Arena.ofConfined()) {
      long bytes = host.byteSize();
      long device = buffer.address() + offset;
      MemorySegment staged = arena.allocate(Math.max(1, bytes));
      if (toBuffer) {
        MemorySegment.copy(host, 0, staged, 0, bytes);
        CudaCalls.copy(handle, device, staged.address(), bytes);
      } else {
        CudaCalls.copy(handle, staged.address(), device, bytes);
        MemorySegment.copy(staged, 0, host, 0, bytes);
      }
    } finally {
      exit();
    }
  }

  void add(QueuePair queuePair) {
    queuePairs.add(queuePair);
  }

  void forget(QueuePair queuePair) {
    queuePairs.remove(queuePair);
  }

  void add(GpuStream stream) {
    streams.add(stream);
  }

  void forget(GpuStream stream) {
    streams.remove(stream);
  }

  void forget(DeviceBuffer buffer) {
    buffers.remove(buffer);
  }

  /** Frees something at close, when no kernel runs any more. */
  void park(Runnable free) {
    synchronized (parked) {
      parked.add(free);
    }
  }

  /** Whether all kernels of the context that were launched before are over by the deadline. */
  boolean awaitKernels(long deadline) {
    return reaper.run(() -> CudaCalls.synchronize(handle), deadline);
  }

  /** As {@link #close(Duration)} with {@link #CLOSE_TIMEOUT}. */
  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }

  /**
   * Closes the queue pairs (each waits at most its close timeout), the streams and the buffers,
   * waits for the kernels, unloads and frees everything. What a kernel still runs on when the
   * timeout ends is left allocated and a warning logged. Closing twice is fine.
   *
   * @param timeout for the kernels, 0 or more
   */
  public void close(Duration timeout) {
    long deadline = Deadline.after(timeout);
    if (!gate.close()) {
      return;
    }
    boolean unused = gate.awaitUnused(deadline);
    queuePairs.forEach(QueuePair::close);
    streams.forEach(GpuStream::close);
    boolean quiet = awaitKernels(deadline) || CudaCalls.sickness(handle) != null;
    if (unused && quiet) {
      buffers.forEach(buffer -> buffer.close(deadline));
      quietly(() -> SoftNic.retire(copies));
      if (reaper.run(this::free, deadline)) {
        reaper.stop();
        return;
      }
    }
    reaper.stop();
    Quarantine.report(toString(), null);
  }

  private void free() {
    List<Runnable> rest;
    synchronized (parked) {
      rest = List.copyOf(parked);
    }
    rest.forEach(Gpu::quietly);
    synchronized (modules) {
      modules.forEach(module -> quietly(() -> CudaCalls.moduleUnload(handle, module)));
    }
    events.close();
    quietly(pinned::close);
    CudaCalls.close(handle);
  }

  /** In a dead context nothing can be freed, nor needs to be. */
  private static void quietly(Runnable free) {
    try {
      free.run();
    } catch (RdmaException | IllegalArgumentException e) {
      Log.LOGGER.log(Level.DEBUG, "while closing a GPU", e);
    }
  }

  /** Such as {@code GPU 0 (NVIDIA H200)}. */
  @Override
  public String toString() {
    return "GPU " + info.ordinal() + " (" + info.name() + ")";
  }
}
