// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

/**
 * What became of one WQE, in an int, so that the hot path allocates nothing: {@link #OK}, a stall
 * (negative: try the same WQE again later), or an error (positive: syndrome | vendor syndrome
 * &lt;&lt; 8).
 */
final class Result {
  static final int OK = 0;

  /** The peer has no receive posted. */
  static final int RNR = -1;

  /** The peer doesn't answer. */
  static final int NO_ANSWER = -2;

  /** Somebody else is at the peer's responder for a moment. */
  static final int BUSY = -3;

  /** An injected delay. */
  static final int DELAYED = -4;

  /** An injected drop: consumed without effect or completion. */
  static final int DROPPED = -5;

  private Result() {}

  static int error(int syndrome, int vendor) {
    return syndrome | vendor << 8;
  }

  static int syndrome(int result) {
    return result & 0xff;
  }

  static int vendor(int result) {
    return result >>> 8;
  }
}
