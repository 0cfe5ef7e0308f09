// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A GPU's facts, memory and life. */
@GpuTest
class GpuMemoryTest {
  private final Gpu gpu = Gpu.open(0);

  @AfterEach
  void close() {
    gpu.close();
  }

  @Test
  void theListHasEveryGpuWithItsFacts() {
    GpuInfo info = Gpu.list().getFirst();
    assertEquals(info, gpu.info());
    assertTrue(info.multiprocessors() > 0);
    assertTrue(info.memoryBytes() > 0);
    assertTrue(info.driverVersion().matches("\\d+\\.\\d+"), info.driverVersion());
  }

  @Test
  void anOrdinalBeyondTheLastIsRefusedByName() {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> Gpu.open(Gpu.list().size()));
    assertTrue(e.getMessage().contains("this machine has GPUs 0 to"), e.getMessage());
  }

  @ParameterizedTest
  @EnumSource(MemoryKind.class)
  void bytesGoInAndOut(MemoryKind kind) {
    byte[] bytes = new byte[100_000];
    new Random(7).nextBytes(bytes);
    try (DeviceBuffer buffer = gpu.allocate(bytes.length + 3, kind);
        Arena arena = Arena.ofConfined()) {
      buffer.copyFrom(3, MemorySegment.ofArray(bytes));
      MemorySegment back = arena.allocate(bytes.length);
      buffer.copyTo(3, back);
      assertArrayEquals(bytes, back.toArray(JAVA_BYTE));
    }
  }

  @Test
  void pinnedMemoryIsTheCpusToo() {
    try (DeviceBuffer buffer = gpu.allocate(64, MemoryKind.PINNED);
        Arena arena = Arena.ofConfined()) {
      buffer.segment().set(JAVA_LONG, 8, 42);
      MemorySegment back = arena.allocate(64);
      buffer.copyTo(0, back);
      assertEquals(42, back.get(JAVA_LONG, 8));
    }
  }

  @Test
  void gpuMemoryHasNoSegment() {
    try (DeviceBuffer buffer = gpu.allocate(64, MemoryKind.DEVICE);
        Nic nic = Nic.open()) {
      assertThrows(IllegalStateException.class, buffer::segment);
      MemoryRegion region = nic.register(buffer, Access.REMOTE_WRITE);
      assertThrows(IllegalStateException.class, region::segment);
      assertEquals(buffer.address(), region.address());
      assertEquals(64, region.remote().length());
    }
  }

  @Test
  void rangesOutsideTheBufferAreRefused() {
    try (DeviceBuffer buffer = gpu.allocate(64, MemoryKind.DEVICE)) {
      MemorySegment nine = MemorySegment.ofArray(new byte[9]);
      assertThrows(IndexOutOfBoundsException.class, () -> buffer.copyTo(56, nine));
      assertThrows(IndexOutOfBoundsException.class, () -> buffer.copyFrom(-1, nine));
    }
  }

  @Test
  void tooMuchMemoryIsNamed() {
    RdmaException e =
        assertThrows(RdmaException.class, () -> gpu.allocate(1L << 50, MemoryKind.DEVICE));
    assertTrue(e.getMessage().contains((1L << 50) + " bytes of GPU memory"), e.getMessage());
  }

  @Test
  void closingTheBufferClosesItsRegions() {
    try (Nic nic = Nic.open()) {
      DeviceBuffer buffer = gpu.allocate(64, MemoryKind.DEVICE);
      MemoryRegion region = nic.register(buffer, Access.REMOTE_WRITE);
      buffer.close();
      assertThrows(IllegalStateException.class, region::remote);
      assertThrows(IllegalStateException.class, buffer::address);
      assertThrows(IllegalStateException.class, () -> nic.register(buffer));
    }
  }

  @Test
  void useAfterCloseThrows() {
    Gpu other = Gpu.open(0);
    DeviceBuffer buffer = other.allocate(64, MemoryKind.PINNED);
    other.close();
    other.close();
    assertThrows(IllegalStateException.class, () -> other.allocate(64, MemoryKind.DEVICE));
    assertThrows(IllegalStateException.class, () -> GpuStream.open(other));
    assertThrows(IllegalStateException.class, () -> other.compile("", "none"));
    assertThrows(IllegalStateException.class, buffer::segment);
    try (Nic nic = Nic.open()) {
      QueuePairOptions options = QueuePairOptions.builder().gpu(other).build();
      assertThrows(IllegalStateException.class, () -> nic.queuePair(options));
    }
  }

  @Test
  void freedMemoryCanNotBeRegistered() {
    DeviceBuffer buffer = gpu.allocate(1 << 20, MemoryKind.DEVICE);
    long address = buffer.address();
    buffer.close();
    DeviceBuffer stale = DeviceBuffer.of(address, 64, gpu, this);
    try (Nic nic = Nic.open()) {
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> nic.register(stale));
      assertTrue(e.getMessage().contains("was freed"), e.getMessage());
    }
  }

  @Test
  void plainHostMemoryCanNotBeRegisteredAsABuffer() {
    try (Nic nic = Nic.open();
        Arena arena = Arena.ofShared()) {
      DeviceBuffer host = DeviceBuffer.of(arena.allocate(64).address(), 64, gpu, arena);
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> nic.register(host));
      assertTrue(e.getMessage().contains("plain host memory"), e.getMessage());
    }
  }

  @Test
  void aBufferLongerThanItsAllocationCanNotBeRegistered() {
    try (Nic nic = Nic.open();
        DeviceBuffer buffer = gpu.allocate(4096, MemoryKind.DEVICE)) {
      DeviceBuffer longer = DeviceBuffer.of(buffer.address(), 1L << 32, gpu, buffer);
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> nic.register(longer));
      assertTrue(e.getMessage().contains("beyond its allocation"), e.getMessage());
    }
  }
}
