// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A command's words: {@code --name value}, {@code --name=value}, {@code --flag}, and the rest;
 * {@code --} ends the options.
 */
final class Arguments {
  private final Map<String, String> values = new HashMap<>();
  private final List<String> rest = new ArrayList<>();

  private Arguments() {}

  static Arguments parse(List<String> words, Set<String> flags, Set<String> valued)
      throws UsageException {
    Arguments arguments = new Arguments();
    boolean options = true;
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      if (!options || !word.startsWith("-") || word.equals("-")) {
        arguments.rest.add(word);
        continue;
      }
      if (word.equals("--")) {
        options = false;
        continue;
      }
      int equals = word.indexOf('=');
      String name = equals < 0 ? word : word.substring(0, equals);
      String value;
      if (flags.contains(name)) {
        if (equals >= 0) {
          throw new UsageException("%s takes no value".formatted(name));
        }
        value = "";
      } else if (!valued.contains(name)) {
        throw new UsageException("unknown option %s".formatted(name));
      } else if (equals >= 0) {
        value = word.substring(equals + 1);
      } else if (i + 1 < words.size()) {
        value = words.get(++i);
      } else {
        throw new UsageException("%s needs a value".formatted(name));
      }
      if (arguments.values.put(name, value) != null) {
        throw new UsageException("%s is given twice".formatted(name));
      }
    }
    return arguments;
  }

  boolean has(String flag) {
    return values.containsKey(flag);
  }

  @Nullable String value(String name) {
    return values.get(name);
  }

  List<String> rest() {
    return rest;
  }

  /** A whole number in min..max. */
  int number(String name, int otherwise, int min, int max) throws UsageException {
    String text = values.get(name);
    return text == null ? otherwise : number(name, text, min, max);
  }

  static int number(String name, String text, int min, int max) throws UsageException {
    try {
      int value = Integer.parseInt(text.strip());
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Said below, with the range.
    }
    throw new UsageException("%s %s: use a whole number in %d..%d".formatted(name, text, min, max));
  }

  /**
   * Bytes, such as {@code 4096}, {@code 64K}, {@code 256M} or {@code 1MiB}; a power of two in
   * min..max.
   */
  long bytes(String name, long otherwise, long min, long max) throws UsageException {
    String text = values.get(name);
    if (text == null) {
      return otherwise;
    }
    long value = Units.parse(text);
    if (value < min || value > max || Long.bitCount(value) != 1) {
      throw new UsageException(
          "%s %s: use a power of two in %s..%s, such as %s"
              .formatted(name, text, Units.bytes(min), Units.bytes(max), Units.bytes(otherwise)));
    }
    return value;
  }
}
