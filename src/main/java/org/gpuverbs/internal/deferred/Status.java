// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

/** The statuses that the queue itself gives; org.gpuverbs.Status has the same values. */
final class Status {
  static final int DONE = 0;
  static final int FULL = -1;
  static final int CLOSED = -4;
  static final int PENDING = -6;
  static final int DEVICE_ERROR = -32;
  static final int CANCELLED = -33;
  static final int EXPIRED = -34;
  static final int UNREACHABLE = -36;

  /** The syndrome of a request that did not run because one before it failed. */
  static final int FLUSHED = 5;

  private Status() {}
}
