// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.shim.CudaCalls;
import org.gpuverbs.internal.shim.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Memory that kernels use: allocated by {@link Gpu#allocate}, or another library's ({@link #of}).
 * Any thread.
 *
 * <p>Closing it closes its memory regions first. Memory that was allocated here is freed then,
 * which waits for running kernels, but no longer than {@link Gpu#CLOSE_TIMEOUT}; then it is left
 * allocated and a warning logged.
 */
public final class DeviceBuffer implements AutoCloseable {
  private final Gpu gpu;
  private final long address;
  private final long length;

  /** Null for another library's, whose kind is asked for when it matters. */
  private final @Nullable MemoryKind kind;

  /** Keeps another library's object, and so its memory, alive. */
  private final @Nullable Object owner;

  private final Set<MemoryRegion> regions = ConcurrentHashMap.newKeySet();
  private boolean closed;

  private DeviceBuffer(
      Gpu gpu, long address, long length, @Nullable MemoryKind kind, @Nullable Object owner) {
    this.gpu = gpu;
    this.address = address;
    this.length = length;
    this.kind = kind;
    this.owner = owner;
  }

  static DeviceBuffer allocate(Gpu gpu, long bytes, MemoryKind kind) {
    return new DeviceBuffer(
        gpu, CudaCalls.allocate(gpu.handle(), bytes, code(kind)), bytes, kind, null);
  }

  private static int code(MemoryKind kind) {
    return kind == MemoryKind.DEVICE ? CudaCalls.MEMORY_DEVICE : CudaCalls.MEMORY_PINNED;
  }

  /**
   * Memory of another library's: a plain device address. Keeps {@code owner} reachable until close,
   * frees nothing.
   *
   * @param address such as a CUdeviceptr
   * @param bytes 1 or more
   * @param gpu the GPU that it belongs to
   * @param owner the object whose life the memory's ends with
   * @return the buffer
   * @throws IllegalArgumentException if the address is 0 or {@code bytes} below 1
   * @throws IllegalStateException if the GPU is closed
   */
  public static DeviceBuffer of(long address, long bytes, Gpu gpu, Object owner) {
    Objects.requireNonNull(owner, "owner");
    if (address == 0 || bytes < 1) {
      throw new IllegalArgumentException(
          "a buffer of "
              + bytes
              + " bytes at 0x"
              + Long.toHexString(address)
              + ": take an address and 1 byte or more");
    }
    return gpu.adopt(() -> new DeviceBuffer(gpu, address, bytes, null, owner));
  }

  /**
   * The GPU that it belongs to.
   *
   * @return the GPU
   */
  public Gpu gpu() {
    return gpu;
  }

  /**
   * Where kernels find it.
   *
   * @return the address
   * @throws IllegalStateException if closed
   */
  public long address() {
    requireOpen();
    return address;
  }

  /**
   * The length.
   *
   * @return bytes
   */
  public long length() {
    return length;
  }

  /**
   * The memory, for the CPU.
   *
   * @return a segment that must not be used after close
   * @throws IllegalStateException if closed, or if it was not allocated here as {@link
   *     MemoryKind#PINNED}: the CPU can't touch GPU memory
   */
  public MemorySegment segment() {
    requireOpen();
    if (kind != MemoryKind.PINNED) {
      throw new IllegalStateException(
          this + " has no segment: copy by copyTo and copyFrom, or allocate MemoryKind.PINNED");
    }
    return Memory.at(address, length);
  }

  /**
   * Copies from here to host memory, and waits for the copy: for no kernel and no stream.
   *
   * @param offset bytes from the buffer's start
   * @param target native or heap memory, filled as a whole
   * @throws IndexOutOfBoundsException if the range is not inside the buffer
   * @throws IllegalStateException if closed
   * @throws RdmaException if the GPU's context has failed
   */
  public void copyTo(long offset, MemorySegment target) {
    Objects.checkFromIndexSize(offset, target.byteSize(), length);
    gpu.copy(this, offset, target, false);
  }

  /**
   * Copies from host memory to here, and waits for the copy: for no kernel and no stream.
   *
   * @param offset bytes from the buffer's start
   * @param source native or heap memory
   * @throws IndexOutOfBoundsException if the range is not inside the buffer
   * @throws IllegalStateException if closed
   * @throws RdmaException if the GPU's context has failed
   */
  public void copyFrom(long offset, MemorySegment source) {
    Objects.checkFromIndexSize(offset, source.byteSize(), length);
    gpu.copy(this, offset, source, true);
  }

  /**
   * Makes a region of it, if a NIC can: with its keys requested while it can't be closed.
   *
   * @param make is told whether it is GPU memory
   */
  MemoryRegion register(java.util.function.Predicate<MemoryKind> isGpu, RegionMaker make) {
    synchronized (regions) {
      requireOpen();
      MemoryKind found = registrable();
      MemoryRegion region = make.region(isGpu.test(found) ? null : Memory.at(address, length));
      regions.add(region);
      return region;
    }
  }

  /** Makes a region; the segment is null for GPU memory. */
  interface RegionMaker {
    MemoryRegion region(@Nullable MemorySegment segment);
  }

  void forget(MemoryRegion region) {
    regions.remove(region);
  }

  /** Its kind, or why no NIC can register it, by name. */
  private MemoryKind registrable() {
    if (kind != null) {
      return kind;
    }
    CudaCalls.Pointer found = CudaCalls.describe(gpu.handle(), address);
    if (found.kind() == CudaCalls.MEMORY_POOL) {
      throw refused(
          "lies in a stream-ordered pool (cudaMallocAsync), which no NIC can register: allocate it"
              + " by cudaMalloc or Gpu.allocate");
    }
    if (found.kind() == CudaCalls.MEMORY_MANAGED) {
      throw refused(
          "is managed memory, whose pages move: allocate it by cudaMalloc or Gpu.allocate");
    }
    if (found.kind() == CudaCalls.MEMORY_UNKNOWN) {
      throw refused(
          "is plain host memory or was freed: the driver does not know the address. Register host"
              + " memory by its MemorySegment, GPU memory before it is freed");
    }
    if (found.kind() == CudaCalls.MEMORY_DEVICE && found.ordinal() != gpu.info().ordinal()) {
      throw refused("belongs to GPU " + found.ordinal() + ", not to " + gpu + ": name that one");
    }
    if (found.bytes() != 0 && address + length > found.base() + found.bytes()) {
      throw refused(
          "goes beyond its allocation, which ends at 0x"
              + Long.toHexString(found.base() + found.bytes()));
    }
    return found.kind() == CudaCalls.MEMORY_PINNED ? MemoryKind.PINNED : MemoryKind.DEVICE;
  }

  private IllegalArgumentException refused(String why) {
    return new IllegalArgumentException("the memory at 0x" + Long.toHexString(address) + " " + why);
  }

  private void requireOpen() {
    synchronized (regions) {
      if (closed) {
        throw new IllegalStateException(this + " is closed");
      }
    }
  }

  /** Closes its regions, then frees what was allocated here. Closing twice is fine. */
  @Override
  public void close() {
    close(Deadline.after(Gpu.CLOSE_TIMEOUT));
  }

  void close(long deadline) {
    synchronized (regions) {
      if (closed) {
        return;
      }
      closed = true;
    }
    boolean free = true;
    for (MemoryRegion region : regions) {
      free &= region.closeWithParent();
    }
    gpu.forget(this);
    if (kind == null) {
      return;
    }
    int code = code(kind);
    if (!free || !gpu.reaper().run(() -> CudaCalls.free(gpu.handle(), address, code), deadline)) {
      Quarantine.report(toString(), null);
    }
  }

  /** Such as {@code DeviceBuffer[DEVICE 0x7f0000000000, 4096 bytes]}. */
  @Override
  public String toString() {
    return "DeviceBuffer["
        + (kind == null ? owner == null ? "" : owner.getClass().getSimpleName() : kind.name())
        + " 0x"
        + Long.toHexString(address)
        + ", "
        + length
        + " bytes]";
  }
}
