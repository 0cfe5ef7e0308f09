// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What lets the smoke fail. A row has 10,000 operations an iteration. */
final class CheckCommandTest {
  @TempDir Path directory;

  @Test
  void aHotRowThatAllocatesNothingPasses() throws IOException {
    assertEquals(0, check("SubmitAlone", "0.2, 0.3, 90.0"));
  }

  @Test
  void aHotRowThatAllocatesInEveryIterationFails() throws IOException {
    assertEquals(1, check("SubmitAlone", "16.2, 16.1, 90.0"));
  }

  @Test
  void aRowOfAnotherSuiteMayAllocate() throws IOException {
    assertEquals(0, check("Registration", "160.0, 160.0, 160.0"));
  }

  @Test
  void someKilobytesInAllAreJmhsOwn() throws IOException {
    assertEquals(0, check("SubmitAlone", "3.2, 3.1, 90.0"));
  }

  @Test
  void aHotRowWithoutTheProfilerFails() throws IOException {
    assertEquals(1, check("SubmitAlone", null));
  }

  @Test
  void aSuiteThatDidNotRunFails() throws IOException {
    assertEquals(1, check("SubmitAlone", "0.2, 0.3, 90.0", "--suites", "FfmCost"));
  }

  private int check(String suite, String allocated, String... options) throws IOException {
    String profile =
        allocated == null
            ? ""
            : "\"gc.alloc.rate.norm\": {\"score\": 1, \"rawData\": [[" + allocated + "]]}";
    Path file = directory.resolve("jmh.json");
    Files.writeString(
        file,
        """
        [{"benchmark": "org.gpuverbs.bench.%s.submit", "mode": "avgt", "measurementTime": "1 s",
          "primaryMetric": {"score": 100, "scoreUnit": "us/op", "rawData": [[99, 100, 101]]},
          "secondaryMetrics": {%s}}]
        """
            .formatted(suite, profile));
    CommandLine line = new CommandLine(new CheckCommand());
    String[] arguments = new String[options.length + 1];
    System.arraycopy(options, 0, arguments, 1, options.length);
    arguments[0] = file.toString();
    return line.execute(arguments);
  }
}
