// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.discovery;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** The kernel's files, under a root that tests replace. Whatever can't be read is absent. */
public final class KernelFiles {
  /**
   * Internal, for tests: another root than {@code /}, read at each {@link #here}. Nothing else may
   * set it.
   */
  public static final String ROOT_PROPERTY = "org.gpuverbs.internal.root";

  private final Path root;

  /**
   * @param root such as {@code /}
   */
  public KernelFiles(Path root) {
    this.root = root;
  }

  /** This machine's. */
  public static KernelFiles here() {
    return new KernelFiles(Path.of(System.getProperty(ROOT_PROPERTY, "/")));
  }

  /** A file's text without the white space around it. */
  public Optional<String> read(String file) {
    try {
      return Optional.of(Files.readString(root.resolve(file)).strip());
    } catch (IOException | SecurityException e) {
      return Optional.empty();
    }
  }

  /** A file's bytes. */
  public Optional<byte[]> bytes(String file) {
    try {
      return Optional.of(Files.readAllBytes(root.resolve(file)));
    } catch (IOException | SecurityException e) {
      return Optional.empty();
    }
  }

  /** The names in a directory, sorted; empty if there is none. */
  public List<String> list(String directory) {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(root.resolve(directory))) {
      entries.forEach(entry -> names.add(entry.getFileName().toString()));
    } catch (IOException | SecurityException e) {
      return List.of();
    }
    Collections.sort(names);
    return names;
  }

  /** Whether it is there. */
  public boolean exists(String file) {
    return Files.exists(root.resolve(file));
  }

  /** Whether this process may open it for reading and writing. */
  public boolean usable(String file) {
    Path path = root.resolve(file);
    return Files.isReadable(path) && Files.isWritable(path);
  }

  /** Where a link leads, below the root; absent if nothing is there. */
  public Optional<String> target(String link) {
    try {
      Path real = root.resolve(link).toRealPath();
      return Optional.of(root.toRealPath().relativize(real).toString());
    } catch (IOException | SecurityException e) {
      return Optional.empty();
    }
  }
}
