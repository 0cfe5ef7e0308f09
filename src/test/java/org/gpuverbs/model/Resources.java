// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Where the model finds its programs and the table of ordering steps: in the source tree. */
final class Resources {
  private Resources() {}

  static Path base() {
    return Path.of(System.getProperty("gpuverbs.basedir", "."));
  }

  static Path litmus(String directory) {
    return base().resolve("src/test/resources/litmus").resolve(directory);
  }

  static StepTable steps() {
    try {
      return StepTable.read(base().resolve("native/include/gpuverbs/steps.def"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static SubmitPath path(String name) {
    try {
      return SubmitPath.read(litmus("policies"), name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The rows of a tab-separated file, without comments. */
  static List<String[]> table(Path file) {
    try {
      return Files.readAllLines(file).stream()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .map(line -> line.split("\t"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
