// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.io.PrintStream;
import java.util.Locale;

/** One line on a terminal's standard error, redrawn; nothing elsewhere. One thread. */
final class Bar {
  private static final int WIDTH = 30;
  private static final long REDRAW_NANOS = 100_000_000;

  private final PrintStream out;
  private final boolean shown;
  private final long start = System.nanoTime();
  private long drawn = start;
  private int length;

  Bar(PrintStream out, boolean shown) {
    this.out = out;
    this.shown = shown;
  }

  /** {@code part} of the whole run is done, 0..1. */
  void at(double part, String what) {
    long now = System.nanoTime();
    if (!shown || now - drawn < REDRAW_NANOS) {
      return;
    }
    drawn = now;
    double done = Math.clamp(part, 0, 1);
    int full = (int) (done * WIDTH);
    String left =
        done <= 0
            ? ""
            : String.format(Locale.ROOT, ", %.0f s left", (now - start) / 1e9 / done * (1 - done));
    draw(
        String.format(
            Locale.ROOT,
            "[%s%s] %3.0f %%  %s%s",
            "#".repeat(full),
            ".".repeat(WIDTH - full),
            100 * done,
            what,
            left));
  }

  void clear() {
    if (length > 0) {
      draw("");
      out.print('\r');
      out.flush();
      length = 0;
    }
  }

  private void draw(String line) {
    out.print('\r' + line + " ".repeat(Math.max(0, length - line.length())));
    out.flush();
    length = line.length();
  }
}
