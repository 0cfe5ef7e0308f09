// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.shim;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.ffi.Native;
import org.jspecify.annotations.Nullable;

/**
 * Loads libgpuverbs.so once: from the directory named by {@value #DIRECTORY_PROPERTY}, else from
 * this module's resources by way of a private directory under {@value #EXTRACT_PROPERTY} or
 * java.io.tmpdir. Never fails in a static initialiser. Any thread.
 */
public final class NativeLibrary {
  /** A directory that holds the library. */
  public static final String DIRECTORY_PROPERTY = "org.gpuverbs.native.dir";

  /** Where to extract the library to; for machines whose temporary directory is mounted noexec. */
  public static final String EXTRACT_PROPERTY = "org.gpuverbs.extract.dir";

  private static final String FILE_NAME = "libgpuverbs.so";

  private static boolean tried;
  private static @Nullable RdmaException failure;

  private NativeLibrary() {}

  /** Loads the library unless that was tried before; null if it is loaded, else why not. */
  public static synchronized @Nullable RdmaException load() {
    if (!tried) {
      failure = tryLoad();
      tried = true;
    }
    return failure;
  }

  private static @Nullable RdmaException tryLoad() {
    try {
      String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
      String directory = System.getProperty(DIRECTORY_PROPERTY);
      if (directory != null) {
        loadFrom(Path.of(directory).toAbsolutePath().resolve(FILE_NAME));
      } else {
        loadResource("/org/gpuverbs/native/" + platform + "/" + FILE_NAME);
      }
      checkVersion(abiVersion());
      return null;
    } catch (RdmaException e) {
      return e;
    } catch (IllegalCallerException e) {
      return accessDenied(NativeLibrary.class.getModule(), e);
    } catch (RuntimeException | LinkageError e) {
      return unavailable("the native library can't be used", e.toString(), e);
    }
  }

  /** Such as {@code linux-x86_64}; throws on an unsupported platform. */
  static String platform(String os, String arch) {
    String machine =
        switch (arch.toLowerCase(Locale.ROOT)) {
          case "amd64", "x86_64" -> "x86_64";
          case "aarch64", "arm64" -> "aarch_64";
          default -> "";
        };
    if (!os.equals("Linux") || machine.isEmpty()) {
      throw unavailable(
          "gpuverbs has no native library for " + os + " on " + arch,
          "it runs on Linux x86-64 and aarch64",
          null);
    }
    return "linux-" + machine;
  }

  /** Looked up alone, since a library of another version may lack the rest. */
  private static int abiVersion() {
    MemorySegment function =
        SymbolLookup.loaderLookup()
            .find("gv_abi_version")
            .orElseThrow(() -> unavailable(FILE_NAME + " is not a gpuverbs library", "", null));
    try {
      return (int)
          Linker.nativeLinker()
              .downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_INT))
              .invokeExact();
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new AssertionError("a downcall threw", t);
    }
  }

  static void checkVersion(int found) {
    int needed = Native.GV_ABI_VERSION();
    if (found != needed) {
      throw unavailable(
          FILE_NAME + " has ABI version " + found + "; this jar needs " + needed,
          "use the library that the jar carries: remove -D"
              + DIRECTORY_PROPERTY
              + ", or build both from one checkout",
          null);
    }
  }

  static RdmaException accessDenied(Module module, IllegalCallerException cause) {
    String who = module.isNamed() ? module.getName() : "ALL-UNNAMED";
    return unavailable(
        "native access is denied to " + (module.isNamed() ? "module " + who : "the class path"),
        "start the JVM with --enable-native-access=" + who,
        cause);
  }

  static void loadFrom(Path library) {
    if (!Files.isRegularFile(library)) {
      throw unavailable(
          "there is no " + library, "correct or remove -D" + DIRECTORY_PROPERTY, null);
    }
    try {
      System.load(library.toString());
    } catch (UnsatisfiedLinkError e) {
      throw loadFailure(library, e);
    }
  }

  static RdmaException loadFailure(Path library, UnsatisfiedLinkError e) {
    String reason = String.valueOf(e.getMessage());
    if (reason.contains("failed to map segment") || reason.contains("Operation not permitted")) {
      return unavailable(
          library.getParent() + " does not allow executables (mounted noexec?)",
          "name a directory that does by -D" + EXTRACT_PROPERTY + "=DIR",
          e);
    }
    return unavailable(
        library + " can't be loaded: " + reason,
        "the file may be damaged or built for another machine: build or download it again",
        e);
  }

  static void loadResource(String resource) {
    Path directory = null;
    try (InputStream in = NativeLibrary.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw unavailable(
            "the jar has no " + resource,
            "build it with cmake and a C++ compiler installed, or name a directory that holds "
                + FILE_NAME
                + " by -D"
                + DIRECTORY_PROPERTY
                + "=DIR",
            null);
      }
      directory = extract(in);
      loadFrom(directory.resolve(FILE_NAME));
    } catch (IOException e) {
      throw unavailable(
          "the native library can't be extracted: " + e,
          "name a writable directory by -D" + EXTRACT_PROPERTY + "=DIR",
          e);
    } finally {
      delete(directory);
    }
  }

  private static Path extract(InputStream in) throws IOException {
    String base = System.getProperty(EXTRACT_PROPERTY, System.getProperty("java.io.tmpdir"));
    Path directory =
        Files.createTempDirectory(
            Path.of(base).toAbsolutePath(),
            "gpuverbs-",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    try {
      Files.copy(in, directory.resolve(FILE_NAME));
      return directory;
    } catch (IOException e) {
      delete(directory);
      throw e;
    }
  }

  /** A loaded library stays mapped without its file. */
  private static void delete(@Nullable Path directory) {
    if (directory != null) {
      directory.resolve(FILE_NAME).toFile().delete();
      directory.toFile().delete();
    }
  }

  private static RdmaException unavailable(String what, String hint, @Nullable Throwable cause) {
    return new RdmaException(what, 0, 0, 0, hint, cause);
  }
}
