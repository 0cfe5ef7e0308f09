// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.internal.shim.CudaCalls;

/**
 * A kernel compiled by {@link Gpu#compile(String, String)}. Any thread. Lives as long as its GPU.
 */
public final class Kernel {
  private final Gpu gpu;
  private final String name;
  private final long function;

  /** Sizes in bytes; null where the driver can't tell. */
  private final long @org.jspecify.annotations.Nullable [] parameters;

  Kernel(Gpu gpu, String name, long function) {
    this.gpu = gpu;
    this.name = name;
    this.function = function;
    this.parameters = CudaCalls.parameters(gpu.handle(), function);
  }

  /**
   * Launches the kernel in one dimension; see the longer form.
   *
   * @param stream a CUstream of the GPU's context, or 0 for the default stream
   * @param grid blocks
   * @param block threads of each
   * @param args the parameters
   */
  public void launch(long stream, int grid, int block, Object... args) {
    launch(stream, Dim.of(grid), Dim.of(block), 0, args);
  }

  /**
   * Launches the kernel on a stream and returns at once.
   *
   * <p>Arguments by type: {@code Long} and {@code Integer} for 64- and 32-bit integers, {@code
   * Double} and {@code Float}; a {@link DeviceBuffer} as its address; a {@link QueuePair} of this
   * GPU as its handle, a {@code gv_sq*}. Their values are copied at the call. Memory and queue
   * pairs must stay open while the kernel runs; closing such a queue pair ends the kernel's waits
   * on it, and waits for the kernel.
   *
   * @param stream a CUstream of the GPU's context, or 0 for the default stream
   * @param grid blocks
   * @param block threads of each
   * @param sharedBytes dynamic shared memory of each block
   * @param args the parameters
   * @throws IllegalArgumentException if an argument is of another type, another GPU's, or not what
   *     the kernel takes
   * @throws IllegalStateException if the GPU, a buffer or a queue pair is closed, or a queue pair
   *     belongs to a {@link GpuStream}
   * @throws RdmaException if the launch fails
   */
  public void launch(long stream, Dim grid, Dim block, int sharedBytes, Object... args) {
    gpu.enter();
    List<QueuePair> used = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      checkCount(args.length);
      MemorySegment pointers = arena.allocate(ADDRESS, Math.max(1, args.length));
      for (int i = 0; i < args.length; i++) {
        if (args[i] instanceof QueuePair qp) {
          used.add(qp);
        }
        MemorySegment value = value(arena, i, args[i]);
        checkSize(i, value.byteSize(), args[i]);
        pointers.setAtIndex(ADDRESS, i, value);
      }
      CudaCalls.launch(
          gpu.handle(), function, stream, grid.array(), block.array(), sharedBytes, pointers);
      for (QueuePair qp : used) {
        qp.gpuQueue().launched(stream);
      }
    } finally {
      gpu.exit();
    }
  }

  private MemorySegment value(Arena arena, int index, Object argument) {
    return switch (argument) {
      case Long v -> arena.allocateFrom(JAVA_LONG, v);
      case Integer v -> arena.allocateFrom(JAVA_INT, v);
      case Double v -> arena.allocateFrom(JAVA_DOUBLE, v);
      case Float v -> arena.allocateFrom(JAVA_FLOAT, v);
      case DeviceBuffer v -> {
        requireSame(index, v, v.gpu());
        yield arena.allocateFrom(JAVA_LONG, v.address());
      }
      case QueuePair v -> {
        GpuQueue queue = v.gpuQueue();
        if (queue == null) {
          throw wrong(index, v + " is no queue pair of a GPU: create it with options.gpu(gpu)");
        }
        requireSame(index, v, queue.gpu());
        yield arena.allocateFrom(JAVA_LONG, queue.handleForLaunch());
      }
      case MemorySegment v ->
          throw wrong(
              index,
              "a MemorySegment: kernels reach DeviceBuffers alone. Allocate MemoryKind.PINNED and"
                  + " pass that");
      case null -> throw wrong(index, "null");
      default ->
          throw wrong(
              index,
              "a "
                  + argument.getClass().getSimpleName()
                  + ": take Long, Integer, Double, Float, DeviceBuffer or QueuePair");
    };
  }

  private void requireSame(int index, Object argument, Gpu other) {
    if (other != gpu && other.context() != gpu.context()) {
      throw wrong(index, argument + " belongs to " + other + ", the kernel to " + gpu);
    }
  }

  private void checkCount(int count) {
    if (parameters != null && parameters.length != count) {
      throw new IllegalArgumentException(
          this + " takes " + parameters.length + " parameters, not " + count);
    }
  }

  private void checkSize(int index, long bytes, Object argument) {
    if (parameters != null && parameters[index] != bytes) {
      throw wrong(
          index,
          "the kernel's parameter has "
              + parameters[index]
              + " bytes, a "
              + argument.getClass().getSimpleName()
              + " "
              + bytes);
    }
  }

  private IllegalArgumentException wrong(int index, String what) {
    return new IllegalArgumentException(this + ", argument " + index + ": " + what);
  }

  /**
   * The kernel's name.
   *
   * @return as given to compile
   */
  public String name() {
    return name;
  }

  /** Such as {@code kernel exchange}. */
  @Override
  public String toString() {
    return "kernel " + name;
  }
}
