// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One line of bench/gpu's rates.
 *
 * @param policy as the harness names it
 * @param mode fence mode, SYSTEM or DEVICE
 * @param placement G, N or H
 * @param queues how many
 * @param threads submitting threads a queue
 * @param rate million requests a second, median of 5 runs
 * @param low lowest run
 * @param high highest run
 * @param cycles of a submit call, mean
 * @param doorbells a request
 */
record GpuRow(
    String policy,
    String mode,
    String placement,
    int queues,
    int threads,
    double rate,
    double low,
    double high,
    double cycles,
    double doorbells) {
  private static final int COLUMNS = 14;

  /** All lines of runs in which every request was seen. */
  static List<GpuRow> read(Path csv) throws IOException {
    List<GpuRow> rows = new ArrayList<>();
    for (String line : Files.readAllLines(csv)) {
      String[] f = line.split(",", -1);
      if (line.startsWith("#") || f.length < COLUMNS) {
        continue;
      }
      // A run that ended before its last doorbell has requests that were never asked for: no rate.
      if (!f[11].equals("0") || !f[12].equals("0") || !f[13].equals("0")) {
        continue;
      }
      rows.add(
          new GpuRow(
              f[0],
              f[1],
              f[2],
              Integer.parseInt(f[3]),
              Integer.parseInt(f[4]),
              Double.parseDouble(f[6]),
              Double.parseDouble(f[7]),
              Double.parseDouble(f[8]),
              Double.parseDouble(f[9]),
              Double.parseDouble(f[10])));
    }
    return rows;
  }

  /** The first line of the file, which names GPU, driver and compiler. */
  static String machine(Path csv) throws IOException {
    List<String> lines = Files.readAllLines(csv);
    return lines.isEmpty() ? "" : lines.getFirst().replaceFirst("^# *", "");
  }
}
