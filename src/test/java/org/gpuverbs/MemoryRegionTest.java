// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryRegionTest {
  private final Nic nic = Nic.open();

  @AfterEach
  void close() {
    nic.close();
  }

  private static void assertSays(String part, Throwable e) {
    assertTrue(e.getMessage().contains(part), e.getMessage());
  }

  @Test
  void aHeapSegmentIsRefused() {
    MemorySegment heap = MemorySegment.ofArray(new byte[64]);
    assertSays("heap", assertThrows(IllegalArgumentException.class, () -> nic.register(heap)));
  }

  @Test
  void aConfinedSegmentIsRefused() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment confined = arena.allocate(64);
      assertSays(
          "confined", assertThrows(IllegalArgumentException.class, () -> nic.register(confined)));
    }
  }

  @Test
  void aSegmentOfAClosedArenaIsRefused() {
    Arena arena = Arena.ofShared();
    MemorySegment segment = arena.allocate(64);
    arena.close();
    assertSays("closed", assertThrows(IllegalStateException.class, () -> nic.register(segment)));
  }

  @Test
  void anEmptySegmentIsRefused() {
    MemorySegment empty = Arena.global().allocate(0);
    assertSays("empty", assertThrows(IllegalArgumentException.class, () -> nic.register(empty)));
  }

  @Test
  void aReadOnlyMappingIsRefusedForWriting(@TempDir Path directory) throws IOException {
    Path file = Files.write(directory.resolve("data"), new byte[4096]);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        Arena arena = Arena.ofShared()) {
      MemorySegment mapped = channel.map(MapMode.READ_ONLY, 0, 4096, arena);
      assertSays(
          "read-only",
          assertThrows(
              IllegalArgumentException.class, () -> nic.register(mapped, Access.REMOTE_WRITE)));
      nic.register(mapped, Access.REMOTE_READ).close();
    }
  }

  @Test
  void allocatingNothingIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> nic.allocate(0));
  }

  @Test
  void memoryOfAutomaticAndGlobalArenasIsAccepted() {
    nic.register(Arena.ofAuto().allocate(64)).close();
    nic.register(Arena.global().allocate(64)).close();
  }

  @Test
  void allocatedMemoryIsPageAlignedAndZero() {
    try (MemoryRegion region = nic.allocate(100)) {
      assertEquals(0, region.address() % 4096);
      assertEquals(-1, region.segment().mismatch(MemorySegment.ofArray(new byte[100])));
    }
  }

  @Test
  void remoteWriteAndAtomicImplyLocalWrite() {
    try (MemoryRegion write = nic.allocate(8, Access.REMOTE_WRITE);
        MemoryRegion atomic = nic.allocate(8, Access.REMOTE_ATOMIC);
        MemoryRegion read = nic.allocate(8, Access.REMOTE_READ)) {
      assertEquals(Set.of(Access.REMOTE_WRITE, Access.LOCAL_WRITE), write.access());
      assertEquals(Set.of(Access.REMOTE_ATOMIC, Access.LOCAL_WRITE), atomic.access());
      assertEquals(Set.of(Access.REMOTE_READ), read.access());
    }
  }

  @Test
  void aRegionWithoutRemoteAccessGivesNoRemoteMemory() {
    try (MemoryRegion region = nic.allocate(64, Access.LOCAL_WRITE)) {
      assertSays("REMOTE_READ", assertThrows(IllegalStateException.class, region::remote));
    }
  }

  @Test
  void rangesOutsideTheRegionAreRefused() {
    try (MemoryRegion region = nic.allocate(64, Access.REMOTE_READ)) {
      assertThrows(IndexOutOfBoundsException.class, () -> region.local(60, 8));
      assertThrows(IndexOutOfBoundsException.class, () -> region.local(-1, 8));
      assertThrows(IndexOutOfBoundsException.class, () -> region.remote(64, 1));
      assertThrows(IndexOutOfBoundsException.class, () -> region.remote(0, Long.MAX_VALUE));
    }
  }

  @Test
  void aClosedRegionNamesItself() {
    MemoryRegion region = nic.allocate(64, Access.REMOTE_READ);
    region.close();
    region.close();
    assertSays(
        "MemoryRegion[", assertThrows(IllegalStateException.class, () -> region.remote(0, 1)));
    assertThrows(
        IllegalStateException.class,
        () -> region.segment().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0));
  }

  @Test
  void registeredMemoryStaysTheCallers() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment segment = arena.allocate(64);
      nic.register(segment).close();
      assertTrue(segment.scope().isAlive());
    }
  }
}
