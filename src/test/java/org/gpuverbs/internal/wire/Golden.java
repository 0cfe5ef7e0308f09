// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.wire;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The records of native/test/golden/golden.txt, whose head describes them. */
final class Golden {
  static final Path FOLDER = Path.of("native", "test", "golden");

  private Golden() {}

  /** One line. */
  record Record(int line, String kind, String name, Map<String, String> values) {
    boolean has(String key) {
      return values.containsKey(key);
    }

    String text(String key) {
      String value = values.get(key);
      if (value == null) {
        throw new IllegalArgumentException("no " + key + " in " + this);
      }
      return value;
    }

    long number(String key) {
      return Long.parseUnsignedLong(text(key).replaceFirst("^0x", ""), 16);
    }

    boolean flag(String key) {
      return number(key) != 0;
    }

    /** The bytes in 8-byte aligned memory. */
    MemorySegment bytes() {
      byte[] bytes = HexFormat.of().parseHex(text("bytes"));
      MemorySegment memory = Arena.ofAuto().allocate(bytes.length, 64);
      return memory.copyFrom(MemorySegment.ofArray(bytes));
    }

    @Override
    public String toString() {
      return "golden.txt:" + line + " " + kind + " " + name + " " + values;
    }
  }

  static List<Record> records(String kind) {
    List<String> lines;
    try {
      lines = Files.readAllLines(FOLDER.resolve("golden.txt"));
    } catch (IOException e) {
      throw new IllegalStateException("run tests in the project's folder", e);
    }
    List<Record> records =
        Stream.iterate(0, i -> i < lines.size(), i -> i + 1)
            .filter(i -> lines.get(i).startsWith(kind + " "))
            .map(i -> parse(i + 1, lines.get(i)))
            .toList();
    if (records.isEmpty()) {
      throw new IllegalStateException("golden.txt has no " + kind);
    }
    return records;
  }

  private static Record parse(int line, String text) {
    String[] words = text.split(" ");
    Map<String, String> values = new LinkedHashMap<>();
    String name = "";
    for (int i = 1; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      if (equals < 0) {
        name = words[i];
      } else {
        values.put(words[i].substring(0, equals), words[i].substring(equals + 1));
      }
    }
    return new Record(line, words[0], name, values);
  }
}
