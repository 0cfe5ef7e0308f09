// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.wire;

/**
 * mlx5 completion syndromes (enum MLX5_CQE_SYNDROME_* of mlx5dv.h), with names and hints for
 * people.
 */
public final class Syndrome {
  private Syndrome() {}

  /** No error. Not a syndrome of the device. */
  public static final int NONE = 0;

  public static final int LOCAL_LENGTH = 0x01;
  public static final int LOCAL_QP_OPERATION = 0x02;
  public static final int LOCAL_PROTECTION = 0x04;
  public static final int FLUSHED = 0x05;
  public static final int MW_BIND = 0x06;
  public static final int BAD_RESPONSE = 0x10;
  public static final int LOCAL_ACCESS = 0x11;
  public static final int REMOTE_INVALID_REQUEST = 0x12;
  public static final int REMOTE_ACCESS = 0x13;
  public static final int REMOTE_OPERATION = 0x14;
  public static final int RETRY_EXCEEDED = 0x15;
  public static final int RNR_RETRY_EXCEEDED = 0x16;
  public static final int REMOTE_ABORTED = 0x22;

  /** Short name, for example {@code "remote access error"}. Unknown values give their number. */
  public static String name(int syndrome) {
    return switch (syndrome) {
      case NONE -> "success";
      case LOCAL_LENGTH -> "local length error";
      case LOCAL_QP_OPERATION -> "local QP operation error";
      case LOCAL_PROTECTION -> "local protection error";
      case FLUSHED -> "flushed";
      case MW_BIND -> "memory window bind error";
      case BAD_RESPONSE -> "bad response error";
      case LOCAL_ACCESS -> "local access error";
      case REMOTE_INVALID_REQUEST -> "remote invalid request error";
      case REMOTE_ACCESS -> "remote access error";
      case REMOTE_OPERATION -> "remote operation error";
      case RETRY_EXCEEDED -> "transport retry count exceeded";
      case RNR_RETRY_EXCEEDED -> "receiver-not-ready retry count exceeded";
      case REMOTE_ABORTED -> "remote aborted";
      default -> "syndrome 0x" + Integer.toHexString(syndrome);
    };
  }

  /** One line that says what to look at. */
  public static String hint(int syndrome) {
    return switch (syndrome) {
      case NONE -> "nothing to do";
      case LOCAL_LENGTH ->
          "a message is longer than the port's maximum or than the receive buffer it met, or an"
              + " atomic's result segment has the wrong length";
      case LOCAL_QP_OPERATION ->
          "the WQE is malformed: its index, QP number, size, opcode or segments don't fit; look for"
              + " a submit path that publishes before the WQE is written";
      case LOCAL_PROTECTION ->
          "a local segment is outside its memory region, has a wrong lkey or no local write access,"
              + " or its arena was closed";
      case FLUSHED ->
          "an earlier error or a close ended the queue pair; look at its first error, then reset"
              + " both sides";
      case MW_BIND -> "a memory window couldn't be bound";
      case BAD_RESPONSE -> "the peer answered with something unexpected";
      case LOCAL_ACCESS -> "local memory refused the data of a remote request";
      case REMOTE_INVALID_REQUEST ->
          "the peer refused the request: a message longer than its receive buffer, or an atomic at"
              + " an unaligned address";
      case REMOTE_ACCESS ->
          "the remote address, length or rkey doesn't lie in a region that allows this operation,"
              + " or the peer closed it";
      case REMOTE_OPERATION ->
          "the peer couldn't finish the request: its receive buffer or completion queue is"
              + " unusable";
      case RETRY_EXCEEDED ->
          "the peer doesn't answer: not connected, closed, in error, or only one side was reset;"
              + " connect or reset both";
      case RNR_RETRY_EXCEEDED ->
          "the peer had no receive posted in time; post receives earlier or raise the RNR retry"
              + " count";
      case REMOTE_ABORTED -> "the peer gave the request up";
      default -> "not a syndrome that gpuverbs knows; see the vendor syndrome";
    };
  }
}
