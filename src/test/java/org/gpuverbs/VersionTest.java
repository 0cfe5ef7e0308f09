// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class VersionTest {
  @Test
  void theVersionIsThePoms() throws IOException {
    String pom = Files.readString(Path.of(System.getProperty("gpuverbs.basedir"), "pom.xml"));
    String version = GpuVerbs.version();
    assertTrue(
        pom.contains("<version>" + version + "</version>")
            || pom.contains("<version>" + version + "-SNAPSHOT</version>"),
        version);
  }
}
