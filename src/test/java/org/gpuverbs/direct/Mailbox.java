// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** A command mailbox, its fields placed by native/test/mlx5's tables. */
final class Mailbox {
  private record Place(int offset, int bits) {}

  private static final Map<String, Place> PLACES = places();

  final MemorySegment bytes;
  private final String structure;
  private final int base;

  private Mailbox(MemorySegment bytes, String structure, int base) {
    this.bytes = bytes;
    this.structure = structure;
    this.base = base;
  }

  /** All zero. */
  static Mailbox of(Arena arena, String structure) {
    return new Mailbox(arena.allocate(PLACES.get(structure + "..").bits() / 8, 8), structure, 0);
  }

  /** A struct inside, over the same bytes. */
  Mailbox inside(String field, String inner) {
    return new Mailbox(bytes, inner, base + place(field).offset());
  }

  Mailbox set(String field, long value) {
    Place place = place(field);
    for (int i = 0; i < place.bits(); i++) {
      int at = base + place.offset() + place.bits() - 1 - i;
      int mask = 0x80 >>> (at & 7);
      int old = bytes.get(JAVA_BYTE, at >>> 3);
      bytes.set(JAVA_BYTE, at >>> 3, (byte) ((value >>> i & 1) != 0 ? old | mask : old & ~mask));
    }
    return this;
  }

  long get(String field) {
    Place place = place(field);
    long value = 0;
    for (int i = 0; i < place.bits(); i++) {
      int at = base + place.offset() + i;
      value = value << 1 | (bytes.get(JAVA_BYTE, at >>> 3) >>> (7 - (at & 7)) & 1);
    }
    return value;
  }

  /** Bytes into a field of that many. */
  Mailbox copy(String field, MemorySegment from) {
    MemorySegment.copy(from, 0, bytes, (base + place(field).offset()) / 8, place(field).bits() / 8);
    return this;
  }

  private Place place(String field) {
    Place place = PLACES.get(structure + "." + field);
    if (place == null) {
      throw new AssertionError("no " + structure + "." + field);
    }
    return place;
  }

  private static Map<String, Place> places() {
    Path folder = Path.of(System.getProperty("gpuverbs.basedir"), "native/test/mlx5");
    Map<String, Place> all = new HashMap<>();
    for (String table : new String[] {"fields.tsv", "umem.tsv"}) {
      try {
        for (String row : Files.readAllLines(folder.resolve(table))) {
          String[] cell = row.split("\t");
          all.put(
              cell[0] + "." + cell[1],
              new Place(Integer.parseInt(cell[2]), Integer.parseInt(cell[3])));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return all;
  }
}
