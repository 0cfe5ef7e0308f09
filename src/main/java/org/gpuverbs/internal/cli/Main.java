// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Set;
import org.gpuverbs.GpuVerbs;
import org.gpuverbs.RdmaException;

/** The commands of {@code java -jar}. */
public final class Main {
  static final int OK = 0;
  static final int FAILED = 1;
  static final int USAGE = 2;

  private static final Set<String> COMMANDS = Set.of("info", "demo", "doctor");

  private static final String HELP =
      """
      usage: java -jar gpuverbs.jar COMMAND

        info    what this machine has, and for each missing piece why and what would enable it
        demo    moves a file between queue pairs under every policy and checks it
        doctor  what the hardware paths need: found, missing, how to fix; exit status for scripts

        COMMAND --help says more; --version prints the version.
      """;

  private Main() {}

  /** Runs the command named by the first argument, and ends the JVM with its exit status. */
  public static void main(String[] args) {
    Quiet.warningsOnly();
    int status = run(List.of(args), System.out, System.err);
    System.out.flush();
    System.exit(status);
  }

  /**
   * Runs a command.
   *
   * @return 0; 1 if the command failed; 2 if the command line or a file that it names is wrong
   */
  public static int run(List<String> words, PrintStream out, PrintStream err) {
    String command = words.isEmpty() ? "" : words.getFirst();
    List<String> rest = words.isEmpty() ? words : words.subList(1, words.size());
    try {
      return switch (command) {
        case "info" ->
            asksForHelp(rest) ? print(out, InfoCommand.USAGE) : InfoCommand.run(rest, out);
        case "demo" ->
            asksForHelp(rest) ? print(out, DemoOptions.USAGE) : DemoCommand.run(rest, out, err);
        case "doctor" ->
            asksForHelp(rest) ? print(out, DoctorCommand.USAGE) : DoctorCommand.run(rest, out);
        case "--help", "-h", "help" -> print(out, HELP);
        case "--version", "version" -> print(out, "gpuverbs " + GpuVerbs.version() + "\n");
        case "" -> throw new UsageException("name a command");
        default -> throw new UsageException("unknown command %s".formatted(command));
      };
    } catch (UsageException e) {
      String help = COMMANDS.contains(command) ? command + " --help" : "--help";
      err.printf("gpuverbs: %s (%s says more)%n", e.getMessage(), help);
      return USAGE;
    } catch (RdmaException | IOException e) {
      err.printf("gpuverbs: %s%n", e.getMessage());
      return FAILED;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("gpuverbs: interrupted");
      return FAILED;
    }
  }

  private static boolean asksForHelp(List<String> words) {
    return words.contains("--help") || words.contains("-h");
  }

  private static int print(PrintStream out, String text) {
    out.print(text);
    return OK;
  }
}
