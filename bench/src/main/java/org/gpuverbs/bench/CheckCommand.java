// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.gpuverbs.bench.report.JmhRow;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command line of check. */
@Command(
    name = "check",
    description = {
      "Fails if a row of the suites that promise to allocate nothing has 1 B/op or more, was not measured"
          + " with -prof gc, or if a suite is missing. Never looks at a time.",
      ""
    })
public final class CheckCommand implements Callable<Integer> {
  /**
   * Their operation is the submit and poll of a prebuilt batch. SoftNicLatency's is too, but JMH
   * keeps its samples on the heap; PeerPut does the same without samples.
   */
  private static final Set<String> HOT =
      Set.of(
          "SubmitPath", "SubmitAlone", "FfmCost", "SoftNicDrain", "SoftNicThroughput", "PeerPut");

  private static final double LIMIT = 1;

  /**
   * JMH itself allocates some kilobytes an iteration. On a machine so busy that an iteration has
   * few operations, less than this in all says nothing of one.
   */
  private static final double TOO_LITTLE_TO_TELL = 32 * 1024;

  @Parameters(arity = "1..*", paramLabel = "FILE", description = "JMH's JSON.")
  private List<Path> files;

  @Option(names = "--suites", split = ",", description = "Suites that must be there.")
  private List<String> suites = List.of();

  @Option(
      names = "--again",
      description =
          "Print what must be measured for longer, as a regular expression, instead of failing: compilers"
              + " that are still at work allocate too.")
  private boolean again;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  private boolean help;

  @Override
  public Integer call() throws IOException {
    List<JmhRow> rows = new ArrayList<>();
    for (Path file : files) {
      rows.addAll(JmhRow.all(JsonParser.parseString(Files.readString(file)).getAsJsonArray()));
    }
    List<String> wrong = new ArrayList<>();
    Set<String> offenders = new TreeSet<>();
    Set<String> missing = new TreeSet<>(suites);
    List<String> untold = new ArrayList<>();
    int hot = 0;
    for (JmhRow row : rows) {
      missing.remove(row.suite());
      if (!HOT.contains(row.suite())) {
        continue;
      }
      hot++;
      double bytes = row.bytesPerOperation();
      if (bytes >= LIMIT && bytes * row.operations() < TOO_LITTLE_TO_TELL) {
        untold.add(row.title());
      } else if (!(bytes < LIMIT)) {
        wrong.add(row.title() + ": " + (Double.isNaN(bytes) ? "no -prof gc" : bytes + " B/op"));
        offenders.add(row.suite() + "\\." + row.method());
      }
    }
    missing.forEach(suite -> wrong.add(suite + ": no row"));
    if (again && missing.isEmpty()) {
      System.out.println(String.join("|", offenders));
      return 0;
    }
    untold.forEach(line -> System.out.println("check: too few operations to tell: " + line));
    wrong.forEach(line -> System.err.println("check: " + line));
    System.out.println(
        "check: "
            + rows.size()
            + " rows, "
            + hot
            + " of them below 1 B/op asked, "
            + wrong.size()
            + " wrong");
    return wrong.isEmpty() ? 0 : 1;
  }
}
