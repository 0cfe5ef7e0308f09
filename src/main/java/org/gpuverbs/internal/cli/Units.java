// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes and times as people read and write them. */
final class Units {
  private static final Pattern SIZE =
      Pattern.compile("(\\d{1,12})\\s*([KMGT]?)(?:i?B)?", Pattern.CASE_INSENSITIVE);
  private static final String SUFFIXES = "KMGT";

  private Units() {}

  /** Bytes, or -1 if the text is none. Suffixes are powers of 1024. */
  static long parse(String text) {
    Matcher matcher = SIZE.matcher(text.strip());
    if (!matcher.matches()) {
      return -1;
    }
    int suffix = SUFFIXES.indexOf(matcher.group(2).toUpperCase(Locale.ROOT));
    int shift = matcher.group(2).isEmpty() ? 0 : 10 * (suffix + 1);
    long value = Long.parseLong(matcher.group(1));
    return value > Long.MAX_VALUE >> shift ? -1 : value << shift;
  }

  /** Such as {@code 64 MiB}, {@code 1.5 GiB}, {@code 11357 B}. */
  static String bytes(long bytes) {
    if (bytes < 10 * 1024 && bytes % 1024 != 0) {
      return bytes + " B";
    }
    double value = bytes;
    int suffix = -1;
    while (value >= 1024 && suffix < SUFFIXES.length() - 1) {
      value /= 1024;
      suffix++;
    }
    String unit = suffix < 0 ? " B" : " " + SUFFIXES.charAt(suffix) + "iB";
    return String.format(Locale.ROOT, value == Math.rint(value) ? "%.0f" : "%.1f", value) + unit;
  }

  /** Such as {@code 3.2 s}, {@code 4:07}, {@code 1:02:03}. */
  static String duration(double seconds) {
    if (seconds < 60) {
      return String.format(Locale.ROOT, "%.1f s", seconds);
    }
    long whole = Math.round(seconds);
    return whole < 3600
        ? "%d:%02d".formatted(whole / 60, whole % 60)
        : "%d:%02d:%02d".formatted(whole / 3600, whole / 60 % 60, whole % 60);
  }

  /** Three significant digits at least, and no exponent. */
  static String rate(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%,.0f", value);
  }
}
