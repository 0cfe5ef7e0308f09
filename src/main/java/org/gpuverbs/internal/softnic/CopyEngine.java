// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

/**
 * Who copies to and from the memory of a device that the CPU can't touch. One a device; any thread.
 */
public interface CopyEngine {
  /**
   * What one NIC thread needs; called when memory of the device is registered or a NIC opened,
   * never on the data path.
   */
  Stream open();

  /**
   * Copies in order. One thread at a time; {@link #start} and {@link #query} allocate nothing and
   * wait for nothing.
   */
  interface Stream extends AutoCloseable {
    /** Starts a copy between device and pinned memory: 0, or a negative errno. */
    int start(long to, long from, long bytes);

    /** Whether all copies are done: 0 yes, 1 not yet, or a negative errno. */
    int query();

    /** The address of pinned memory of the stream's own. */
    long staging();

    /** Its length, 4096 or more. */
    int stagingBytes();

    @Override
    void close();
  }
}
