// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.gpuverbs.QueuePair;
import org.gpuverbs.RemoteMemory;

/** Where the demo's bytes go: windows and queue pairs of this process or of another one. */
interface FarEnd extends AutoCloseable {
  /** The window that is written to and read back. */
  RemoteMemory target();

  /** The counter. */
  RemoteMemory counter();

  /** Connects queue pairs to as many of its own, which live until what is returned is closed. */
  AutoCloseable connect(List<QueuePair> near);

  /** Overwrites the first bytes of the window. */
  void wipe(long length);

  /** Tells the row whether these bytes are there. */
  void arrived(DemoRow row, MemorySegment sent);

  /** Sets the counter to zero. */
  void zero();

  /** The counter's value. */
  long count();

  @Override
  void close();
}
