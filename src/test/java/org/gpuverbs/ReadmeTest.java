// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the README says is so. */
class ReadmeTest {
  private static final Path ROOT = Path.of(System.getProperty("gpuverbs.basedir"));

  @TempDir Path directory;
  private String readme;

  @BeforeEach
  void read() throws Exception {
    readme = Files.readString(ROOT.resolve("README.md"));
  }

  private static String only(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    assertTrue(matcher.find(), "no " + pattern);
    return matcher.group(1);
  }

  @Test
  @Timeout(120)
  void theExampleCompilesAndRuns() throws Exception {
    String example = only(Pattern.compile("(?s)```java\n(.*?)```"), readme);
    assertTrue(example.lines().count() <= 20, "it promises to be short");
    Path source = Files.writeString(directory.resolve("Hello.java"), example);
    Path out = directory.resolve("out");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    ROOT.resolve("target/classes").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    source.toString()))
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    if (!process.waitFor(100, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("the example did not end");
    }
    String printed = Files.readString(out);
    assertEquals(0, process.exitValue(), printed);
    assertTrue(printed.contains("hello by path SOFT"), printed);
  }

  @Test
  void itsVersionsAreThePoms() throws Exception {
    String pom = Files.readString(ROOT.resolve("pom.xml"));
    String version =
        only(Pattern.compile("<artifactId>gpuverbs</artifactId>\\s*<version>([^<]+)<"), pom);
    Matcher named = Pattern.compile("gpuverbs[:-](\\d[\\w.-]*?)(?:\\.jar|')").matcher(readme);
    int found = 0;
    while (named.find()) {
      assertEquals(version, named.group(1));
      found++;
    }
    assertTrue(found >= 4, "only " + found + " versions found");
    assertEquals(version, only(Pattern.compile("<version>([^<]+)</version>"), readme));
  }

  @Test
  void theFilesThatItLinksToAreThere() {
    Matcher link = Pattern.compile("\\]\\((?!http)([^)#]+)\\)").matcher(readme);
    while (link.find()) {
      Path target = ROOT.resolve(link.group(1));
      assertTrue(Files.exists(target), target + " is missing");
    }
  }

  @Test
  void theSystemPropertiesAreTheLoaders() throws Exception {
    String loader =
        Files.readString(
            ROOT.resolve("src/main/java/org/gpuverbs/internal/shim/NativeLibrary.java"));
    Matcher property = Pattern.compile("`(org\\.gpuverbs\\.\\w+\\.dir)`").matcher(readme);
    int found = 0;
    while (property.find()) {
      assertTrue(loader.contains('"' + property.group(1) + '"'), property.group(1));
      found++;
    }
    assertEquals(2, found);
  }
}
