// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.gpuverbs.internal.backend.Device;
import org.jspecify.annotations.Nullable;

/**
 * Memory that a NIC may access: made by {@link Nic#allocate} or {@link Nic#register}. Any thread.
 *
 * <p>Closing it invalidates its keys at once: requests that still name them fail with {@link
 * Syndrome#LOCAL_PROTECTION} or {@link Syndrome#REMOTE_ACCESS}. Allocated memory is freed then;
 * registered memory stays the caller's.
 */
public final class MemoryRegion implements AutoCloseable {
  private final Nic nic;
  private final Device.Region mr;
  private final long address;
  private final long length;

  /** Null in GPU memory. */
  private final @Nullable MemorySegment segment;

  private final @Nullable DeviceBuffer buffer;
  private final Ordering ordering;
  private final Set<Access> access;
  private final @Nullable Arena arena;
  private volatile boolean closed;

  MemoryRegion(
      Nic nic,
      Device.Region mr,
      MemorySegment segment,
      Ordering ordering,
      Set<Access> access,
      @Nullable Arena arena) {
    this.nic = nic;
    this.mr = mr;
    this.address = segment.address();
    this.length = segment.byteSize();
    this.segment = segment;
    this.buffer = null;
    this.ordering = ordering;
    this.access = Set.copyOf(access);
    this.arena = arena;
  }

  MemoryRegion(
      Nic nic,
      Device.Region mr,
      DeviceBuffer buffer,
      @Nullable MemorySegment segment,
      Ordering ordering,
      Set<Access> access) {
    this.nic = nic;
    this.mr = mr;
    this.address = buffer.address();
    this.length = buffer.length();
    this.segment = segment;
    this.buffer = buffer;
    this.ordering = ordering;
    this.access = Set.copyOf(access);
    this.arena = null;
  }

  Nic nic() {
    return nic;
  }

  /**
   * In which order the NIC's writes reach it.
   *
   * @return the ordering that it was registered with
   */
  public Ordering ordering() {
    return ordering;
  }

  /**
   * The first byte's address.
   *
   * @return the address
   */
  public long address() {
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
   * The key that local segments carry.
   *
   * @return the key
   */
  public int lkey() {
    return mr.lkey();
  }

  /**
   * What is allowed besides local reads.
   *
   * @return the set, with what it implies
   */
  public Set<Access> access() {
    return access;
  }

  /**
   * The memory, for the host to read and write. What a peer has written is seen after the
   * completion that says so.
   *
   * @return the segment; if allocated by the NIC, no longer accessible after close
   * @throws IllegalStateException if it is GPU memory, which the CPU can't touch
   */
  public MemorySegment segment() {
    if (segment == null) {
      throw new IllegalStateException(
          this + " is GPU memory and has no segment: copy by DeviceBuffer.copyTo and copyFrom");
    }
    return segment;
  }

  /**
   * The whole region as a local segment.
   *
   * @return the range
   * @throws IllegalArgumentException if the region is longer than {@link LocalMemory#MAX_LENGTH}
   */
  public LocalMemory local() {
    return new LocalMemory(this, 0, length());
  }

  /**
   * A part of the region as a local segment.
   *
   * @param offset bytes from the region's start
   * @param length bytes, 0..2<sup>30</sup>
   * @return the range
   * @throws IndexOutOfBoundsException if it is not inside the region
   * @throws IllegalArgumentException if it is longer than {@link LocalMemory#MAX_LENGTH}
   */
  public LocalMemory local(long offset, long length) {
    return new LocalMemory(this, offset, length);
  }

  /**
   * The whole region, to be sent to a peer.
   *
   * @return the range with its key
   * @throws IllegalStateException if the region is closed or grants no remote access
   */
  public RemoteMemory remote() {
    return remote(0, length());
  }

  /**
   * A part of the region, to be sent to a peer. The NIC checks the whole region's bounds: the key
   * opens all of it.
   *
   * @param offset bytes from the region's start
   * @param length bytes
   * @return the range with its key
   * @throws IndexOutOfBoundsException if it is not inside the region
   * @throws IllegalStateException if the region is closed or grants no remote access
   */
  public RemoteMemory remote(long offset, long length) {
    java.util.Objects.checkFromIndexSize(offset, length, length());
    requireOpen();
    if (access.isEmpty() || access.equals(Set.of(Access.LOCAL_WRITE))) {
      throw new IllegalStateException(
          this
              + " grants no remote access: allocate or register it with REMOTE_READ, REMOTE_WRITE"
              + " or REMOTE_ATOMIC");
    }
    return new RemoteMemory(address() + offset, length, mr.rkey());
  }

  void requireOpen() {
    if (closed) {
      throw new IllegalStateException(this + " is closed");
    }
  }

  /**
   * Invalidates the keys and waits until the NIC touches the memory no more; frees it if it was
   * allocated by the NIC. Closing twice is fine.
   */
  @Override
  public void close() {
    closeWithParent();
  }

  /** Whether the NIC touches the memory no more. */
  boolean closeWithParent() {
    synchronized (mr) {
      if (closed) {
        return true;
      }
      closed = true;
    }
    nic.forget(this);
    if (buffer != null) {
      buffer.forget(this);
    }
    try {
      mr.close();
      if (arena != null) {
        arena.close();
      }
      return true;
    } catch (IllegalStateException e) {
      Quarantine.report(this.toString(), e);
      return false;
    }
  }

  /** Such as {@code MemoryRegion[0x7f0000001000, 4096 bytes]}. */
  @Override
  public String toString() {
    return "MemoryRegion[0x" + Long.toHexString(address()) + ", " + length() + " bytes]";
  }
}
