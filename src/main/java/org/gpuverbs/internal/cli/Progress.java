// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.PrintStream;
import java.util.Locale;

/** A bar on one line that is drawn over itself, at most ten times a second. One thread. */
final class Progress {
  private static final int WIDTH = 30;
  private static final long INTERVAL_NANOS = 100_000_000;

  private final PrintStream out;
  private final boolean shown;
  private final long total;
  private final long start = System.nanoTime();
  private long done;
  private long drawn;
  private int length;

  /**
   * @param shown whether to draw at all
   * @param total bytes to come
   */
  Progress(PrintStream out, boolean shown, long total) {
    this.out = out;
    this.shown = shown;
    this.total = total;
    drawn = start;
  }

  void add(long bytes, String what) {
    done += bytes;
    long now = System.nanoTime();
    if (shown && now - drawn >= INTERVAL_NANOS) {
      drawn = now;
      draw(line(done, total, (now - start) / 1e9, what));
    }
  }

  /** Takes the bar away, so that another line can be printed; the next add draws it again. */
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

  static String line(long done, long total, double seconds, String what) {
    double part = total == 0 ? 1 : Math.min(1, (double) done / total);
    int full = (int) (part * WIDTH);
    String left =
        done == 0
            ? ""
            : ", " + Units.duration(seconds / done * Math.max(0, total - done)) + " left";
    return String.format(
        Locale.ROOT,
        "[%s%s] %3.0f %%  %s of %s%s  %s",
        "#".repeat(full),
        ".".repeat(WIDTH - full),
        100 * part,
        Units.bytes(done),
        Units.bytes(total),
        left,
        what);
  }
}
