// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The kernels and functions of a PTX file, each as the lines of its body. */
final class PtxKernels {
  private static final Pattern ENTRY = Pattern.compile(".*\\.entry\\s+(\\w+).*");
  private static final Pattern FUNCTION = Pattern.compile(".*\\.func\\b.*");

  /** Under this name stand the bodies of all functions that are no kernels. */
  static final String FUNCTIONS = "functions";

  private PtxKernels() {}

  static Map<String, List<String>> read(Path file) throws IOException {
    Map<String, List<String>> kernels = new LinkedHashMap<>();
    List<String> body = null;
    for (String line : Files.readAllLines(file)) {
      Matcher entry = ENTRY.matcher(line);
      if (entry.matches()) {
        body = new ArrayList<>();
        kernels.put(entry.group(1), body);
      } else if (FUNCTION.matcher(line).matches()) {
        body = kernels.computeIfAbsent(FUNCTIONS, name -> new ArrayList<>());
      } else if (line.startsWith("}")) {
        body = null;
      } else if (body != null) {
        body.add(line);
      }
    }
    return kernels;
  }
}
