// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** Registered memory of any kind, and the test's way to its bytes. */
final class Payload implements AutoCloseable {
  enum Kind {
    HOST,
    PINNED,
    DEVICE
  }

  final MemoryRegion region;
  private final @Nullable DeviceBuffer buffer;

  /** HOST needs no GPU. */
  Payload(Nic nic, @Nullable Gpu gpu, Kind kind, long bytes, Access... access) {
    if (kind == Kind.HOST || gpu == null) {
      buffer = null;
      region = nic.allocate(bytes, access);
    } else {
      buffer = gpu.allocate(bytes, MemoryKind.valueOf(kind.name()));
      buffer.copyFrom(0, MemorySegment.ofArray(new byte[(int) bytes]));
      region = nic.register(buffer, access);
    }
  }

  byte[] bytes() {
    byte[] bytes = new byte[(int) region.length()];
    MemorySegment heap = MemorySegment.ofArray(bytes);
    if (buffer == null) {
      MemorySegment.copy(region.segment(), 0, heap, 0, bytes.length);
    } else {
      buffer.copyTo(0, heap);
    }
    return bytes;
  }

  void set(long offset, byte... bytes) {
    MemorySegment heap = MemorySegment.ofArray(bytes);
    if (buffer == null) {
      MemorySegment.copy(heap, 0, region.segment(), offset, bytes.length);
    } else {
      buffer.copyFrom(offset, heap);
    }
  }

  /** The bytes as the CPU may read them; of GPU memory a copy. */
  MemorySegment segment() {
    return buffer == null || region.length() == 0
        ? region.segment()
        : MemorySegment.ofArray(bytes());
  }

  long getLong(int offset) {
    return ByteBuffer.wrap(bytes()).order(ByteOrder.nativeOrder()).getLong(offset);
  }

  void setLong(long offset, long value) {
    set(offset, ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(value).array());
  }

  byte get(long offset) {
    return segment().get(JAVA_BYTE, offset);
  }

  @Override
  public void close() {
    region.close();
    if (buffer != null) {
      buffer.close();
    }
  }
}
