// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/**
 * Why a request failed: the syndromes of mlx5 error completions (rdma-core, providers/mlx5/cq.c).
 *
 * <p>With path DIRECT and a collapsed send CQ the NIC overwrites the first error by the completions
 * of what it then flushes: if nobody polled in between, {@link #FLUSHED} is all that is seen. A
 * full one, {@link QueuePairOptions.Builder#sendQueue}, keeps each.
 */
public final class Syndrome {
  /** The message is longer than the receive or the port allows. */
  public static final int LOCAL_LENGTH = 0x01;

  /** The queue entry itself is malformed or not allowed on this queue pair. */
  public static final int LOCAL_QP_OPERATION = 0x02;

  /**
   * A local segment is outside its memory region, lacks LOCAL_WRITE, or its region or arena is
   * closed.
   */
  public static final int LOCAL_PROTECTION = 0x04;

  /** Not executed: the queue pair went to ERROR before. */
  public static final int FLUSHED = 0x05;

  /** The response did not make sense. */
  public static final int BAD_RESPONSE = 0x10;

  /** A remote write into this queue pair's memory was refused. */
  public static final int LOCAL_ACCESS = 0x11;

  /**
   * The peer can't do this operation: an unaligned atomic, or a message too long for its receive.
   */
  public static final int REMOTE_INVALID_REQUEST = 0x12;

  /** The peer's region is unknown, too short, or does not grant this access. */
  public static final int REMOTE_ACCESS = 0x13;

  /** The peer failed while it executed the request. */
  public static final int REMOTE_OPERATION = 0x14;

  /** The peer does not answer: closed, reset, in ERROR or never connected back. */
  public static final int RETRY_EXCEEDED = 0x15;

  /** The peer had no receive posted for too long. */
  public static final int RNR_EXCEEDED = 0x16;

  /** The peer aborted the request. */
  public static final int REMOTE_ABORTED = 0x22;

  private Syndrome() {}

  /**
   * A syndrome's name and what usually causes it.
   *
   * @param syndrome as in an error completion, 1..255
   * @return one line, such as {@code REMOTE_ACCESS (0x13): ...}
   */
  public static String describe(int syndrome) {
    return name(syndrome) + String.format(" (0x%02x): ", syndrome) + hint(syndrome);
  }

  static String name(int syndrome) {
    return switch (syndrome) {
      case LOCAL_LENGTH -> "LOCAL_LENGTH";
      case LOCAL_QP_OPERATION -> "LOCAL_QP_OPERATION";
      case LOCAL_PROTECTION -> "LOCAL_PROTECTION";
      case FLUSHED -> "FLUSHED";
      case BAD_RESPONSE -> "BAD_RESPONSE";
      case LOCAL_ACCESS -> "LOCAL_ACCESS";
      case REMOTE_INVALID_REQUEST -> "REMOTE_INVALID_REQUEST";
      case REMOTE_ACCESS -> "REMOTE_ACCESS";
      case REMOTE_OPERATION -> "REMOTE_OPERATION";
      case RETRY_EXCEEDED -> "RETRY_EXCEEDED";
      case RNR_EXCEEDED -> "RNR_EXCEEDED";
      case REMOTE_ABORTED -> "REMOTE_ABORTED";
      default -> "UNKNOWN";
    };
  }

  static String hint(int syndrome) {
    return switch (syndrome) {
      case LOCAL_LENGTH -> "the message is longer than the posted receive or the port's maximum";
      case LOCAL_QP_OPERATION -> "the queue entry is malformed or not allowed on this queue pair";
      case LOCAL_PROTECTION ->
          "a local segment is outside its region, lacks LOCAL_WRITE, or its region or arena is"
              + " closed";
      case FLUSHED ->
          "the queue pair was in ERROR before this request ran; look for the first error,"
              + " then reset() and connect again";
      case LOCAL_ACCESS -> "a remote write into this queue pair's memory was refused";
      case REMOTE_INVALID_REQUEST ->
          "the peer can't do this: check the 8-byte alignment of atomics and the length of its"
              + " receives";
      case REMOTE_ACCESS ->
          "check that the peer's region is open, covers the whole range and grants this access";
      case REMOTE_OPERATION -> "the peer failed while it executed the request";
      case RETRY_EXCEEDED -> "the peer is closed, reset, in ERROR or has not connected back";
      case RNR_EXCEEDED -> "the peer had no receive posted: post receives before sending";
      default -> "see the mlx5 error syndromes in rdma-core";
    };
  }
}
