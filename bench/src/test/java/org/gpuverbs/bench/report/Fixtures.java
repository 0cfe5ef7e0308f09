// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;

/** Results of a short run: shapes, not numbers. */
final class Fixtures {
  private Fixtures() {}

  static List<Path> folders() {
    try {
      return List.of(Path.of(Fixtures.class.getResource("/results").toURI()));
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }
}
