// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each way in which the native library can be unavailable, in JVMs of their own. */
class AvailabilityTest {
  private static final String MAIN = AvailabilityProbe.class.getName();

  @TempDir private Path directory;

  private static Path root(Class<?> type) {
    String file = type.getName().replace('.', '/') + ".class";
    try {
      URI uri = type.getResource("/" + file).toURI();
      String path = Path.of(uri).toString();
      return Path.of(path.substring(0, path.length() - file.length()));
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private String run(boolean modular, String... options) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of(options));
    Path main = root(GpuVerbs.class);
    Path tests = root(AvailabilityProbe.class);
    if (modular) {
      command.addAll(
          List.of("--module-path", main.toString(), "--patch-module", "org.gpuverbs=" + tests));
      command.addAll(List.of("--module", "org.gpuverbs/" + MAIN));
    } else {
      command.addAll(List.of("--class-path", main + ":" + tests, MAIN));
    }
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("the JVM hangs: " + command);
    }
    String text = Files.readString(output, StandardCharsets.UTF_8);
    assertEquals(0, process.exitValue(), text);
    return text;
  }

  private static void assertUnavailable(String output, String cause, String hint) {
    assertTrue(output.contains("available false"), output);
    assertTrue(line(output, "cause ").contains(cause), output);
    assertTrue(line(output, "hint ").contains(hint), output);
    for (String use : new String[] {"listed ", "open ", "lanes ", "caller "}) {
      assertEquals("true", line(output, use), output);
    }
  }

  private static String line(String output, String start) {
    return output
        .lines()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length()))
        .findFirst()
        .orElse("");
  }

  @Test
  void deniedNativeAccessNamesTheFlagOfTheClassPath() throws Exception {
    assertUnavailable(
        run(false, "--illegal-native-access=deny"),
        "native access is denied to the class path",
        "--enable-native-access=ALL-UNNAMED");
  }

  @Test
  void deniedNativeAccessNamesTheFlagOfTheModule() throws Exception {
    assertUnavailable(
        run(true, "--illegal-native-access=deny"),
        "native access is denied to module org.gpuverbs",
        "--enable-native-access=org.gpuverbs");
  }

  @Test
  void theLibraryWorksOnTheClassPathAndTheModulePath() throws Exception {
    for (boolean modular : new boolean[] {true, false}) {
      String enable = "--enable-native-access=" + (modular ? "org.gpuverbs" : "ALL-UNNAMED");
      String output = run(modular, enable, "--illegal-native-access=deny");
      assertTrue(output.contains("available true"), output);
      assertTrue(output.contains("opened Nic[soft0]"), output);
    }
  }

  @Test
  void nothingIsLeftInTheExtractionDirectory() throws Exception {
    Path extract = Files.createDirectory(directory.resolve("extract"));
    String output =
        run(false, "--enable-native-access=ALL-UNNAMED", "-Dorg.gpuverbs.extract.dir=" + extract);
    assertTrue(output.contains("available true"), output);
    try (Stream<Path> left = Files.list(extract)) {
      assertEquals(List.of(), left.toList());
    }
  }

  @Test
  void aMissingLibraryNamesTheProperty() throws Exception {
    assertUnavailable(
        run(false, "-Dorg.gpuverbs.native.dir=" + directory),
        "there is no " + directory.resolve("libgpuverbs.so"),
        "org.gpuverbs.native.dir");
  }

  @Test
  void aCorruptLibraryIsSaidToBeOne() throws Exception {
    Files.writeString(directory.resolve("libgpuverbs.so"), "not an ELF file");
    assertUnavailable(
        run(false, "-Dorg.gpuverbs.native.dir=" + directory), "can't be loaded", "damaged");
  }

  @Test
  void aLibraryOfSomethingElseIsSaidToBeOne() throws Exception {
    Files.copy(
        Path.of(System.getProperty("java.home"), "lib", "libjsig.so"),
        directory.resolve("libgpuverbs.so"));
    assertUnavailable(
        run(false, "-Dorg.gpuverbs.native.dir=" + directory), "not a gpuverbs library", "");
  }

  @Test
  void anExtractionDirectoryThatIsNotThereIsNamed() throws IOException, Exception {
    assertUnavailable(
        run(false, "-Dorg.gpuverbs.extract.dir=" + directory.resolve("none")),
        "can't be extracted",
        "org.gpuverbs.extract.dir");
  }

  @Test
  void anUnsupportedPlatformIsNamed() throws Exception {
    assertUnavailable(
        run(false, "-Dos.arch=riscv64"), "for Linux on riscv64", "Linux x86-64 and aarch64");
  }
}
