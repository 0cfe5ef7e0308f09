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
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
    List<String> report = new ArrayList<>();
    return Resources.table(model().resolveSibling("runs.tsv")).stream()
        .map(row -> DynamicTest.dynamicTest(row[0], () -> check(row[0], row[1], row[2], report)))
        .onClose(() -> report.forEach(System.out::println));
  }

  private static Path model() {
    return Resources.base().resolve("native/model/submit.pml");
  }

  private static void check(String name, String verdict, String definitions, List<String> report)
      throws IOException, InterruptedException {
    assumeTrue(installed("spin"), "Spin isn't installed");
    assumeTrue(installed("gcc"), "gcc isn't installed, which compiles what Spin generates");
    Path directory =
        Files.createDirectories(
            Resources.base().resolve("target/spin").resolve(name.replaceAll("\\W+", "_")));
    List<String> spin = new ArrayList<>(List.of("spin"));
    for (String definition : definitions.split(" ")) {
      spin.add("-D" + definition);
    }
    spin.addAll(List.of("-a", model().toAbsolutePath().toString()));
    run(directory, spin);
    boolean live = definitions.endsWith(" LIVE");
    run(
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
    String said = run(directory, search);
    long errors = number(ERRORS, said);
    Matcher violation = VIOLATION.matcher(said);
    String how = errors == 0 ? "" : violation.find() ? ": " + violation.group(1) : ": not live";
    report.add(
        String.format(
            "  spin %-58s %8d states, %s%s",
            name, number(STATES, said), errors == 0 ? "holds" : "caught", how));
    assertTrue(!said.contains("max search depth too small"), said);
    assertEquals(verdict, errors == 0 ? "holds" : "caught", said);
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

  private static String run(Path directory, List<String> command)
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
