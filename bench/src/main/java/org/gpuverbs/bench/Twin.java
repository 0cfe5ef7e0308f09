// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The C and JNI twins of the submit call, where the build had a C compiler. */
public final class Twin {
  private static final String UNAVAILABLE = load();

  private Twin() {}

  /**
   * Why the twins can't be called.
   *
   * @return one line; empty if they can
   */
  public static String unavailabilityCause() {
    return UNAVAILABLE;
  }

  /** gv_submit through JNI; {@code function} is its address. */
  static native long submit(long function, long sq, long requests, int count, int wqebbs);

  static MemorySegment loop() {
    return SymbolLookup.loaderLookup().findOrThrow("twin_loop");
  }

  private static String load() {
    try (InputStream library = Twin.class.getResourceAsStream("twin/libgpuverbs-twin.so");
        InputStream reason = Twin.class.getResourceAsStream("twin/MISSING.txt")) {
      if (library == null) {
        return reason == null
            ? "the jar has no twin library"
            : new String(reason.readAllBytes(), StandardCharsets.UTF_8).strip();
      }
      Path file = Files.createTempFile("gpuverbs-twin", ".so");
      try {
        Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
        System.load(file.toString());
      } finally {
        Files.deleteIfExists(file);
      }
      return "";
    } catch (IOException | UnsatisfiedLinkError e) {
      return "the twin library can't be loaded: " + e.getMessage();
    }
  }
}
