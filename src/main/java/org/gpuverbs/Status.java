// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/**
 * Results of the calls that allocate nothing. Zero or more is success (a ticket, an index, or
 * {@link #DONE}); a negative one of these constants says why not. {@link QueuePair#poll} also
 * returns a positive {@link Syndrome}.
 */
public final class Status {
  /** The ticket's request, and all before it, are complete. */
  public static final long DONE = 0;

  /** No room in the send or receive queue; nothing was changed. Try again after completions. */
  public static final long FULL = -1;

  /** The queue pair is not connected, or was reset; nothing was changed. */
  public static final long NOT_CONNECTED = -2;

  /** The queue pair is in ERROR: see {@link QueuePair#errorSyndrome()}. */
  public static final long QP_ERROR = -3;

  /** The queue pair was closed. */
  public static final long CLOSED = -4;

  /**
   * A submitter's turn did not come within the submit timeout, and the queue pair is now in ERROR.
   */
  public static final long TIMEOUT = -5;

  /** The ticket's request is not complete yet. */
  public static final long PENDING = -6;

  /** The lane threads hold too many batches; nothing was changed. Try again. */
  public static final long BUSY = -7;

  /** The device work that a send waited for failed. */
  public static final long DEVICE_ERROR = -32;

  /** The send was cancelled before its release. */
  public static final long CANCELLED = -33;

  /** So many sends have failed since that this one's end is no longer known. */
  public static final long EXPIRED = -34;

  /** An earlier ordered send of the channel failed: reset the channel. */
  public static final long CHANNEL_ERROR = -35;

  /** The destination can't be resolved, or can't take the request. */
  public static final long UNREACHABLE = -36;

  private Status() {}

  /**
   * What a negative result of submit, poll or post, or any result of poll, means and what to do
   * about it.
   *
   * @param value a constant of this class or a syndrome; not a ticket
   * @return one line, such as {@code FULL: no room in the queue; try again after completions}
   */
  public static String describe(long value) {
    if (value > 0) {
      return Syndrome.describe((int) Math.min(value, Integer.MAX_VALUE));
    }
    return switch ((int) Math.max(value, Integer.MIN_VALUE)) {
      case 0 -> "DONE: complete";
      case -1 -> "FULL: no room in the queue; try again after completions";
      case -2 -> "NOT_CONNECTED: the queue pair has no peer; call connect(address) first";
      case -3 ->
          "QP_ERROR: the queue pair is in ERROR; see errorSyndrome(), then reset() and connect"
              + " again";
      case -4 -> "CLOSED: the queue pair was closed";
      case -5 -> "TIMEOUT: not done in time";
      case -6 -> "PENDING: not complete yet; poll again";
      case -7 -> "BUSY: the lane threads hold too many batches; try again";
      case -32 -> "DEVICE_ERROR: the device work before the send failed";
      case -33 -> "CANCELLED: cancelled before its release";
      case -34 -> "EXPIRED: too old to tell; ask about tickets sooner";
      case -35 ->
          "CHANNEL_ERROR: an earlier ordered send of this channel failed; reset() the channel";
      case -36 -> "UNREACHABLE: the destination can't be resolved, or can't take this request";
      default -> "unknown status " + value;
    };
  }
}
