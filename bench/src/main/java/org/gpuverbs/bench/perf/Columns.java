// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.util.Locale;

/** perftest's columns, and ours behind them. */
final class Columns {
  private Columns() {}

  static String header(PerfTest test) {
    return test.latency()
        ? " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
            + "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]   verified"
        : " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]"
            + "   doorbells/msg   verified";
  }

  static String line(Row row) {
    return switch (row) {
      case Row.Bandwidth b ->
          String.format(
              Locale.ROOT,
              " %-10d %-15d %-19.2f %-21.2f %-15.6f %-15.4f %s",
              b.bytes(),
              b.iterations(),
              b.peakMiBps(),
              b.averageMiBps(),
              b.millionPerSecond(),
              b.doorbellsPerMessage(),
              b.verified());
      case Row.Latency l ->
          String.format(
              Locale.ROOT,
              " %-7d %-14d %-14.2f %-14.2f %-16.2f %-14.2f %-15.2f %-22.2f %-24.2f %s",
              l.bytes(),
              l.iterations(),
              l.min(),
              l.max(),
              l.typical(),
              l.average(),
              l.deviation(),
              l.p99(),
              l.p999(),
              l.verified());
    };
  }
}
