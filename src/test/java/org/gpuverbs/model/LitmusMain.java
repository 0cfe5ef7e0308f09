// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The checker by hand: {@code [--explain] FILE|DIRECTORY...} prints a line a file, {@code name
 * PASS} or {@code name FAIL}, and with {@code --explain} the execution that decided it. Exit status
 * 2 if a file cannot be read, else 0.
 */
public final class LitmusMain {
  private LitmusMain() {}

  public static void main(String[] args) {
    System.exit(run(args, System.out, System.err));
  }

  static int run(String[] args, PrintStream out, PrintStream err) {
    boolean explain = false;
    List<Path> files = new ArrayList<>();
    try {
      for (String arg : args) {
        if (arg.equals("--explain")) {
          explain = true;
        } else if (Files.isDirectory(Path.of(arg))) {
          try (Stream<Path> found = Files.walk(Path.of(arg))) {
            found.filter(file -> file.toString().endsWith(".litmus")).sorted().forEach(files::add);
          }
        } else {
          files.add(Path.of(arg));
        }
      }
      if (files.isEmpty()) {
        err.println("usage: [--explain] FILE.litmus|DIRECTORY...");
        return 2;
      }
      for (Path file : files) {
        Checker.Verdict verdict = Checker.check(LitmusParser.parse(file));
        out.printf("%s %s%n", verdict.program().name(), verdict.pass() ? "PASS" : "FAIL");
        if (explain && verdict.witness() != null) {
          out.print(Explainer.explain(verdict.witness()));
        }
      }
      return 0;
    } catch (IOException | IllegalArgumentException e) {
      err.println(e.getMessage());
      return 2;
    }
  }
}
