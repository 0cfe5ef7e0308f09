// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Message sizes: bytes, or with K, M or G behind the number. */
final class Sizes implements ITypeConverter<Integer> {
  /** perftest's -a ends here. */
  static final int ALL_TO = 8 << 20;

  static final int MAX = 1 << 30;

  @Override
  public Integer convert(String text) {
    String upper = text.strip().toUpperCase(Locale.ROOT).replaceFirst("I?B$", "");
    int shift =
        switch (upper.isEmpty() ? ' ' : upper.charAt(upper.length() - 1)) {
          case 'K' -> 10;
          case 'M' -> 20;
          case 'G' -> 30;
          default -> 0;
        };
    String digits = shift == 0 ? upper : upper.substring(0, upper.length() - 1);
    if (digits.matches("\\d{1,10}")) {
      long size = Long.parseLong(digits) << shift;
      if (size >= 1 && size <= MAX) {
        return (int) size;
      }
    }
    throw new TypeConversionException(
        "'" + text + "' is not a size: take 1 to 1G, such as 64, 4K or 8M");
  }

  /** 2 B to 8 MiB in powers of two, as perftest's -a. */
  static List<Integer> all() {
    List<Integer> sizes = new ArrayList<>();
    for (int size = 2; size <= ALL_TO; size *= 2) {
      sizes.add(size);
    }
    return sizes;
  }
}
