// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes maps, lists, strings, numbers and booleans as JSON (RFC 8259), indented by two. */
final class Json {
  private final StringBuilder text = new StringBuilder();

  private Json() {}

  static String of(Object value) {
    Json json = new Json();
    json.value(value, 0);
    return json.text.toString();
  }

  private void value(Object value, int depth) {
    switch (value) {
      case Map<?, ?> map -> {
        List<Map.Entry<?, ?>> entries = List.copyOf(map.entrySet());
        list(
            '{',
            '}',
            entries.size(),
            depth,
            i -> {
              string(String.valueOf(entries.get(i).getKey()));
              text.append(": ");
              value(entries.get(i).getValue(), depth + 1);
            });
      }
      case List<?> list -> list('[', ']', list.size(), depth, i -> value(list.get(i), depth + 1));
      case Boolean b -> text.append(b);
      case Double d -> text.append(number(d));
      case Number n -> text.append(n);
      default -> string(value.toString());
    }
  }

  /** JSON has no infinity and no NaN; a rate over no time is none. */
  private static String number(double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%.6f", value) : "null";
  }

  private interface Item {
    void write(int index);
  }

  private void list(char open, char close, int size, int depth, Item item) {
    text.append(open);
    for (int i = 0; i < size; i++) {
      text.append(i == 0 ? "\n" : ",\n").append("  ".repeat(depth + 1));
      item.write(i);
    }
    if (size > 0) {
      text.append('\n').append("  ".repeat(depth));
    }
    text.append(close);
  }

  private void string(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '"' -> text.append("\\\"");
        case '\\' -> text.append("\\\\");
        case '\n' -> text.append("\\n");
        case '\r' -> text.append("\\r");
        case '\t' -> text.append("\\t");
        default -> {
          // Controls must be escaped; surrogates are, since a lone one (possible in a file name)
          // can't be encoded.
          if (c < ' ' || c == 0x7f || Character.isSurrogate(c)) {
            text.append("\\u%04x".formatted((int) c));
          } else {
            text.append(c);
          }
        }
      }
    }
    text.append('"');
  }
}
