// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What results are tied to. What can't be found is empty or 0.
 *
 * @param cpu model name
 * @param cores that this JVM may use
 * @param memoryBytes of the machine
 * @param kernel name, release and architecture
 * @param virtualised whether a hypervisor is below
 * @param java version of the JVM
 * @param loadAverage of the last minute, before the run: noise
 * @param date in UTC
 */
public record Machine(
    String cpu,
    int cores,
    long memoryBytes,
    String kernel,
    boolean virtualised,
    String java,
    double loadAverage,
    String date) {
  /**
   * This machine, now.
   *
   * @return its facts
   */
  public static Machine here() {
    String cpus = read("/proc/cpuinfo");
    return new Machine(
        find(cpus, "(?m)^model name\\s*:\\s*(.+)$"),
        Runtime.getRuntime().availableProcessors(),
        1024 * number(find(read("/proc/meminfo"), "(?m)^MemTotal:\\s+(\\d+) kB")),
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + " "
            + System.getProperty("os.arch"),
        Pattern.compile("(?m)^flags\\s*:.*\\bhypervisor\\b").matcher(cpus).find(),
        System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"),
        Double.parseDouble("0" + find(read("/proc/loadavg"), "^(\\S+)")),
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
  }

  private static long number(String digits) {
    return digits.isEmpty() ? 0 : Long.parseLong(digits);
  }

  private static String find(String text, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    return matcher.find() ? matcher.group(1).strip() : "";
  }

  private static String read(String file) {
    try {
      return Files.readString(Path.of(file));
    } catch (IOException e) {
      return "";
    }
  }
}
