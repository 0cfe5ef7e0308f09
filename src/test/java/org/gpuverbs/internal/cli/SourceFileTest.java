// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SourceFileTest {
  @TempDir Path directory;

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("file"), text);
  }

  private static String refused(String name) {
    return assertThrows(UsageException.class, () -> SourceFile.open(name)).getMessage();
  }

  @Test
  void aPieceIsReadFromItsPosition() throws Exception {
    try (SourceFile source = SourceFile.open(file("0123456789").toString());
        Arena arena = Arena.ofShared()) {
      MemorySegment window = arena.allocate(4);
      source.read(3, window);
      assertArrayEquals("3456".getBytes(), window.toArray(ValueLayout.JAVA_BYTE));
      source.checkUnchanged();
      assertEquals(10, source.size());
    }
  }

  @Test
  void whatIsNoFileIsRefusedByName() {
    assertTrue(refused("/no/such/file").contains("there is no file /no/such/file"));
    assertTrue(refused(directory.toString()).contains("is a directory"));
    assertTrue(refused("/dev/null").contains("not a regular file"));
    assertTrue(refused("a\0b").contains("can't be a file's name"));
    assertTrue(refused("").contains("is a directory"));
  }

  @Test
  void aFileThatBecameShorterIsNoticed() throws Exception {
    Path file = file("0123456789");
    try (SourceFile source = SourceFile.open(file.toString());
        Arena arena = Arena.ofShared()) {
      file("0123");
      var e = assertThrows(IOException.class, () -> source.read(0, arena.allocate(10)));
      assertTrue(e.getMessage().contains("10 bytes when opened, 4 now"), e.getMessage());
      assertThrows(IOException.class, source::checkUnchanged);
    }
  }

  @Test
  void aFileThatGrewIsNoticed() throws Exception {
    Path file = file("0123456789");
    try (SourceFile source = SourceFile.open(file.toString())) {
      assertDoesNotThrow(source::checkUnchanged);
      Files.writeString(file, "more", StandardOpenOption.APPEND);
      assertThrows(IOException.class, source::checkUnchanged);
    }
  }

  @Test
  void aFileThatHidesItsSizeIsNotTakenForEmpty() {
    assertTrue(refused("/proc/self/status").contains("copy it"));
  }
}
