// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.gpuverbs.GpuVerbs;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command line of facts. */
@Command(
    name = "facts",
    description = {
      "Writes what results are tied to: this machine, and which rows can't be measured on it and why.",
      "Prints a regular expression of JMH benchmarks to leave out (-e); nothing if all can run.",
      ""
    })
public final class FactsCommand implements Callable<Integer> {
  @Parameters(paramLabel = "FILE", description = "Where the JSON goes.")
  private Path file;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  private boolean help;

  private record Facts(String version, Machine machine, Map<String, String> absent) {}

  @Override
  public Integer call() throws IOException {
    Map<String, String> absent = new LinkedHashMap<>();
    Machine machine = Machine.here();
    GpuVerbs.ensureAvailable();
    String twin = Twin.unavailabilityCause();
    String jucx = Jucx.unavailabilityCause();
    StringBuilder leaveOut = new StringBuilder();
    if (!twin.isEmpty()) {
      absent.put("FfmCost.c_loop and FfmCost.jni", twin);
      leaveOut.append("FfmCost\\.(c_loop|jni)");
    }
    if (!jucx.isEmpty()) {
      absent.put("JucxPut", jucx);
      leaveOut.append(leaveOut.isEmpty() ? "" : "|").append("JucxPut");
    }
    absent.forEach((rows, reason) -> System.err.println("left out: " + rows + ": " + reason));
    Path folder = file.toAbsolutePath().getParent();
    Files.createDirectories(folder);
    Files.writeString(
        file,
        new GsonBuilder()
                .setPrettyPrinting()
                .create()
                .toJson(new Facts(GpuVerbs.version(), machine, absent))
            + System.lineSeparator());
    if (!leaveOut.isEmpty()) {
      System.out.println(leaveOut);
    }
    return 0;
  }
}
