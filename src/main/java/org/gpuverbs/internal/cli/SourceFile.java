// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/** The file to move: read piece by piece, more than once, and watched for changes. */
final class SourceFile implements AutoCloseable {
  private final Path path;
  private final FileChannel channel;
  private final long size;
  private final FileTime modified;

  private SourceFile(Path path, FileChannel channel) throws IOException {
    this.path = path;
    this.channel = channel;
    size = channel.size();
    modified = Files.getLastModifiedTime(path);
  }

  /** Opens a regular file, or says why it is none. */
  static SourceFile open(String name) throws UsageException {
    FileChannel channel = null;
    try {
      Path path = Path.of(name);
      if (Files.isDirectory(path)) {
        throw new UsageException("%s is a directory: name a file".formatted(name));
      }
      if (Files.exists(path) && !Files.isRegularFile(path)) {
        throw new UsageException(
            "%s is not a regular file: its size is not known beforehand; copy it to one"
                .formatted(name));
      }
      channel = FileChannel.open(path, StandardOpenOption.READ);
      if (channel.read(ByteBuffer.allocate(1), channel.size()) > 0) {
        // Files of /proc and the like: their size is 0, whatever they hold.
        channel.close();
        throw new UsageException(
            "%s holds more than its size tells: copy it, and move the copy".formatted(name));
      }
      return new SourceFile(path, channel);
    } catch (InvalidPathException e) {
      throw new UsageException("%s can't be a file's name: %s".formatted(name, e.getReason()));
    } catch (NoSuchFileException e) {
      throw new UsageException("there is no file %s".formatted(name));
    } catch (AccessDeniedException e) {
      throw new UsageException("%s is not readable by this user".formatted(name));
    } catch (IOException e) {
      closeQuietly(channel);
      throw new UsageException("%s can't be opened: %s".formatted(name, e.getMessage()));
    }
  }

  Path path() {
    return path;
  }

  /** In bytes, when it was opened. */
  long size() {
    return size;
  }

  /**
   * Fills the window with the bytes from the position on; behind the file's end it begins anew.
   *
   * @throws IOException if the file can't be read, or has become shorter
   */
  void read(long position, MemorySegment window) throws IOException {
    long first = Math.min(window.byteSize(), size - position);
    ByteBuffer buffer = window.asSlice(0, first).asByteBuffer();
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, position + buffer.position()) < 0) {
        throw changed();
      }
    }
    for (long at = first; at < window.byteSize(); at += size) {
      long length = Math.min(size, window.byteSize() - at);
      MemorySegment.copy(window, 0, window, at, length);
    }
  }

  /**
   * Checks that what was read is what was opened.
   *
   * @throws IOException if the file has changed since it was opened
   */
  void checkUnchanged() throws IOException {
    if (channel.size() != size || !Files.getLastModifiedTime(path).equals(modified)) {
      throw changed();
    }
  }

  private IOException changed() throws IOException {
    return new IOException(
        "%s changed while it was read (%d bytes when opened, %d now): move a file that nobody writes to"
            .formatted(path, size, channel.size()));
  }

  @Override
  public void close() {
    closeQuietly(channel);
  }

  private static void closeQuietly(@Nullable FileChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      // It was only read from.
    }
  }
}
