// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.util.List;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.jspecify.annotations.Nullable;

/**
 * Which NIC a side takes.
 *
 * @param name as Nic.list() has it; null for the first that fits
 * @param leaves whether the test leaves this process
 */
record NicChoice(@Nullable String name, boolean leaves) {
  /**
   * The one asked for; else the software NIC, or between processes the first that reaches another.
   */
  Nic open() {
    List<NicInfo> all = Nic.list();
    if (name != null) {
      return Nic.open(
          all.stream()
              .filter(each -> each.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new PerfException(
                          "-d "
                              + name
                              + ": there is no such NIC; there are "
                              + String.join(", ", all.stream().map(NicInfo::name).toList()))));
    }
    return leaves
        ? all.stream()
            .filter(each -> each.path(Path.DIRECT).available() || each.path(Path.PROXY).available())
            .findFirst()
            .map(Nic::open)
            .orElseGet(Nic::open)
        : Nic.open();
  }
}
