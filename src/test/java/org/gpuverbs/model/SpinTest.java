// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The protocol model, native/model/submit.pml, under Spin: every run of runs.tsv. Skipped where
 * Spin isn't installed.
 */
class SpinTest {
  private static final Pattern ERRORS = Pattern.compile("errors: (\\d+)");
  private static final Pattern STATES = Pattern.compile("(\\d+) states, stored");
  private static final Pattern VIOLATION = Pattern.compile("pan:\\d+: (.*?) \\(at depth (\\d+)\\)");
  private static final long LIMIT_S = 100;

  @TestFactory
  Stream<DynamicTest> theProtocolHoldsAndEveryDefectIsCaught() {
    List<String[]> rows = Resources.table(model().resolveSibling("runs.tsv"));
    String missing =
        !installed("spin")
            ? "Spin isn't installed"
            : installed("gcc") ? null : "gcc isn't installed, which compiles what Spin generates";
    ExecutorService pool = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
    List<Future<Run>> runs = new ArrayList<>();
    if (missing == null) {
      rows.forEach(row -> runs.add(pool.submit(() -> run(row[0], row[1], row[2]))));
    }
    List<String> report = new ArrayList<>();
    return IntStream.range(0, rows.size())
        .mapToObj(
            i ->
                DynamicTest.dynamicTest(
                    rows.get(i)[0],
                    () -> {
                      assumeTrue(missing == null, missing);
                      Run run = runs.get(i).get(4 * LIMIT_S, TimeUnit.SECONDS);
                      report.add(run.line(rows.get(i)[0]));
                      assertEquals(rows.get(i)[1], run.verdict(), run.said());
                    }))
        .onClose(
            () -> {
              pool.shutdownNow();
              report.forEach(System.out::println);
            });
  }

  /** What Spin said. */
  private record Run(long states, long errors, String said) {
    String verdict() {
      return errors == 0 ? "holds" : "caught";
    }

    String line(String name) {
      Matcher violation = VIOLATION.matcher(said);
      String how = errors == 0 ? "" : violation.find() ? ": " + violation.group(1) : ": not live";
      return String.format("  spin %-58s %8d states, %s%s", name, states, verdict(), how);
    }
  }

  private static Path model() {
    return Resources.base().resolve("native/model/submit.pml");
  }

  private static Run run(String name, String verdict, String definitions)
      throws IOException, InterruptedException {
    Path directory =
        Files.createDirectories(
            Resources.base().resolve("target/spin").resolve(name.replaceAll("\\W+", "_")));
    List<String> spin = new ArrayList<>(List.of("spin"));
    for (String definition : definitions.split(" ")) {
      spin.add("-D" + definition);
    }
    spin.addAll(List.of("-a", model().toAbsolutePath().toString()));
    execute(directory, spin);
    boolean live = definitions.endsWith(" LIVE");
    execute(
        directory,
        List.of(
            "gcc",
            verdict.equals("holds") ? "-O1" : "-O0", // a defect is found before optimising pays
            "-w",
            "-DMEMLIM=1000",
            live ? "-DCOLLAPSE" : "-DSAFETY",
            "-o",
            "pan",
            "pan.c"));
    List<String> search = new ArrayList<>(List.of("./pan", "-m100000"));
    if (live) {
      search.addAll(List.of("-a", "-f"));
    }
    String said = execute(directory, search);
    assertTrue(!said.contains("max search depth too small"), said);
    return new Run(number(STATES, said), number(ERRORS, said), said);
  }

  private static long number(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    assertTrue(matcher.find(), text);
    return Long.parseLong(matcher.group(1));
  }

  private static boolean installed(String command) {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, command)));
  }

  private static String execute(Path directory, List<String> command)
      throws IOException, InterruptedException {
    Path log = directory.resolve(Path.of(command.get(0)).getFileName() + ".log");
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
      throw new AssertionError(command + " took longer than " + LIMIT_S + " s");
    }
    String said = Files.readString(log);
    assertEquals(0, process.exitValue(), () -> command + "\n" + said);
    return said;
  }
}
