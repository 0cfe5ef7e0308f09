// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.util.Arrays;
import java.util.Set;
import org.gpuverbs.bench.perf.PerfCommand;
import org.gpuverbs.bench.report.ReportCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The jar's entry: its commands, and JMH for everything else. */
@Command(
    name = "benchmarks.jar",
    description = "Anything else goes to JMH: -l lists its benchmarks, -h its options.",
    subcommands = {PerfCommand.class, ReportCommand.class, FactsCommand.class, CheckCommand.class})
public final class Main {
  private Main() {}

  /**
   * Runs a command.
   *
   * @param args a command with its options, or JMH's
   * @throws Exception if JMH does
   */
  public static void main(String[] args) throws Exception {
    CommandLine commands = new CommandLine(new Main());
    commands.setCaseInsensitiveEnumValuesAllowed(true);
    commands.setParameterExceptionHandler(
        (problem, words) -> {
          CommandLine command = problem.getCommandLine();
          String name = command.getCommandName();
          command.getErr().println(name + ": " + problem.getMessage());
          command.getErr().println("(" + name + " --help says more)");
          return CommandLine.ExitCode.USAGE;
        });
    Set<String> names = commands.getSubcommands().keySet();
    if (args.length > 0 && names.contains(args[0])) {
      System.exit(commands.execute(args));
    }
    if (args.length > 0 && Arrays.asList("--help", "help").contains(args[0])) {
      commands.usage(System.out);
      return;
    }
    org.openjdk.jmh.Main.main(args);
  }
}
