// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

/**
 * The events of one stream: marks in its work that can be asked about later. Any thread.
 *
 * <p>Results are {@link #DONE}, {@link #NOT_YET}, or negative: the device failed, which is never
 * "not yet".
 */
public interface DeviceEvents {
  /** All work before the event is complete, and its writes are visible. */
  int DONE = 0;

  /** Not complete, and nothing has failed so far. */
  int NOT_YET = 1;

  /**
   * Whether everything enqueued so far is complete, which saves an event.
   *
   * @throws IllegalStateException if no event can be recorded here, such as while a graph is being
   *     captured
   */
  int idle();

  /**
   * Marks the work enqueued so far.
   *
   * @return a handle of 0 or more, to be {@linkplain #release released}; negative: the device
   *     failed
   */
  long record();

  /**
   * Where the event stands among the stream's events: what has a smaller number is complete if this
   * is.
   */
  long order(long event);

  /** Asks without waiting. */
  int query(long event);

  /** Gives the event back; it need not be complete. */
  void release(long event);

  /** What a negative result means: one sentence that names the stream. */
  String describe(int error);
}
