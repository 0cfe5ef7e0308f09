// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.Reader;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The committed bindings are those of the headers beside them. */
class BindingsMatchHeadersTest {
  private static final Path NATIVE =
      Path.of(System.getProperty("gpuverbs.basedir", ".")).resolve("native");
  private static final Path INCLUDE = NATIVE.resolve("include");
  private static final String REGENERATE = "run native/bindings/generate.sh: ";

  @TempDir Path scratch;

  private final List<CHeader> headers = new ArrayList<>();

  @BeforeEach
  void readHeaders() throws IOException {
    CHeader abi = CHeader.read(INCLUDE.resolve("gpuverbs.h"));
    headers.add(abi);
    for (String included : abi.includes()) {
      headers.add(CHeader.read(INCLUDE.resolve(included)));
    }
  }

  @Test
  void manifestNamesTheHeadersAsTheyAreNow() throws Exception {
    Properties manifest = new Properties();
    try (Reader reader = Files.newBufferedReader(NATIVE.resolve("bindings/GENERATED.properties"))) {
      manifest.load(reader);
    }
    Map<String, String> expected = new TreeMap<>();
    for (CHeader header : headers) {
      expected.put("sha256." + INCLUDE.relativize(header.path()), header.sha256());
    }
    Map<String, String> actual =
        manifest.stringPropertyNames().stream()
            .filter(name -> name.startsWith("sha256."))
            .collect(Collectors.toMap(name -> name, manifest::getProperty));
    assertEquals(expected, new TreeMap<>(actual), REGENERATE + "a header has changed");
  }

  @Test
  void everyFunctionOfTheHeadersIsBound() {
    List<String> functions = all(CHeader::functions);
    assertFalse(functions.isEmpty());
    assertEquals(functions, present(functions, name -> name + "$descriptor"), REGENERATE);
  }

  @Test
  void everyConstantOfTheHeadersIsBound() {
    List<String> constants = all(CHeader::constants);
    assertFalse(constants.isEmpty());
    assertEquals(constants, present(constants, name -> name), REGENERATE);
  }

  @Test
  void layoutsAndConstantsAreWhatTheCompilerSays() throws Exception {
    List<String> probes = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (String struct : all(CHeader::structs)) {
      GroupLayout layout = layoutOf(struct);
      probe(probes, "sizeof(%s)".formatted(struct));
      expected.add("sizeof(%s)=%d".formatted(struct, layout.byteSize()));
      for (MemoryLayout member : layout.memberLayouts()) {
        if (member.name().isEmpty()) {
          continue; // padding
        }
        String name = member.name().get();
        long offset = layout.byteOffset(PathElement.groupElement(name));
        probe(probes, "offsetof(%s, %s)".formatted(struct, name));
        expected.add("offsetof(%s, %s)=%d".formatted(struct, name, offset));
        probe(probes, "sizeof(((%s*)0)->%s)".formatted(struct, name));
        expected.add("sizeof(((%s*)0)->%s)=%d".formatted(struct, name, member.byteSize()));
      }
    }
    for (String constant : all(CHeader::constants)) {
      probe(probes, constant);
      expected.add(constant + "=" + Native.class.getMethod(constant).invoke(null));
    }
    assertEquals(expected, compileAndRun(probes), REGENERATE);
  }

  private static GroupLayout layoutOf(String struct) throws ReflectiveOperationException {
    Class<?> binding = Class.forName(Native.class.getPackageName() + "." + struct);
    return (GroupLayout) binding.getMethod("layout").invoke(null);
  }

  private static void probe(List<String> probes, String expression) {
    probes.add("  printf(\"%%s=%%lld\\n\", \"%1$s\", (long long)(%1$s));".formatted(expression));
  }

  private List<String> compileAndRun(List<String> probes) throws Exception {
    String compiler =
        Stream.of("cc", "gcc", "clang")
            .filter(BindingsMatchHeadersTest::isOnPath)
            .findFirst()
            .orElse(null);
    assumeTrue(compiler != null, "no C compiler on the PATH");
    Path source = scratch.resolve("layouts.c");
    Path program = scratch.resolve("layouts");
    List<String> lines = new ArrayList<>();
    lines.add("#include <stdio.h>\n#include \"gpuverbs.h\"\nint main(void) {");
    lines.addAll(probes);
    lines.add("  return 0;\n}");
    Files.write(source, lines);
    run(compiler, "-w", "-I" + INCLUDE, "-o", program.toString(), source.toString());
    return run(program.toString());
  }

  private static boolean isOnPath(String command) {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":"))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, command)));
  }

  private List<String> run(String... command) throws Exception {
    Path output = Files.createTempFile(scratch, "out", ".txt");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      boolean ended = process.waitFor(60, TimeUnit.SECONDS);
      String said = Files.readString(output);
      assertEquals("ended, status 0", ended ? "ended, status " + process.exitValue() : said, said);
      return said.lines().toList();
    } finally {
      process.destroyForcibly();
    }
  }

  private List<String> all(java.util.function.Function<CHeader, List<String>> declarations) {
    return headers.stream().flatMap(header -> declarations.apply(header).stream()).toList();
  }

  private static List<String> present(
      List<String> names, java.util.function.UnaryOperator<String> toMethod) {
    List<String> methods =
        Arrays.stream(Native.class.getMethods()).map(Method::getName).distinct().toList();
    return names.stream().filter(name -> methods.contains(toMethod.apply(name))).toList();
  }
}
