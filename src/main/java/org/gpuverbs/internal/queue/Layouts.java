// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

/** Sizes and offsets of the structs in native/include/gpuverbs.h and gpuverbs/queue.h, in bytes. */
public final class Layouts {
  static final long WQEBB = 64;
  static final long CQE_BYTES = 64;
  static final long RQ_STRIDE = 64;

  static final long QP_ATTR_BYTES = 40;
  static final long QP_ATTR_SUBMIT_TIMEOUT = 32;

  static final long QP_BYTES = 88;
  static final long QP_SQ = 0;
  static final long QP_RING = 8;
  static final long QP_RECEIVE_RING = 16;
  static final long QP_DBR = 24;
  static final long QP_DOORBELL = 32;
  static final long QP_CQE = 40;

  static final long SQ_BYTES = 768;

  /** Slots handed out. */
  public static final long SQ_RESV_HEAD = 128;

  static final long SQ_COMPLETED = 384;
  static final long SQ_STATE = 512;
  static final long SQ_ERROR_SYNDROME = 516;
  static final long SQ_ERROR_INDEX = 520;
  static final long SQ_ERROR_LATCH = 528;

  /** Doorbells rung. */
  public static final long SQ_DOORBELLS = 640;

  /** Submits that found no room. */
  public static final long SQ_FULL = 648;

  /** Slow waits. */
  public static final long SQ_STALLS = 656;

  /** Scan rounds. */
  public static final long SQ_SCANS = 664;

  /** gv_request. */
  public static final long REQUEST_BYTES = 96;

  /** uint8_t op. */
  public static final long REQUEST_OP = 0;

  /** uint8_t flags. */
  public static final long REQUEST_FLAGS = 1;

  /** uint8_t segments. */
  public static final long REQUEST_SEGMENTS = 2;

  /** uint8_t wqebbs. */
  public static final long REQUEST_WQEBBS = 3;

  /** uint32_t immediate. */
  public static final long REQUEST_IMMEDIATE = 4;

  /** uint64_t remote_address. */
  public static final long REQUEST_REMOTE_ADDRESS = 8;

  /** uint32_t rkey. */
  public static final long REQUEST_RKEY = 16;

  /** uint32_t inline_length. */
  public static final long REQUEST_INLINE_LENGTH = 20;

  /** gv_segment[3]. */
  public static final long REQUEST_SEGMENT = 24;

  /** uint64_t compare. */
  public static final long REQUEST_COMPARE = 72;

  /** uint64_t swap_or_add. */
  public static final long REQUEST_SWAP_OR_ADD = 80;

  /** uint64_t inline_address. */
  public static final long REQUEST_INLINE_ADDRESS = 88;

  /** gv_segment. */
  public static final long SEGMENT_BYTES = 16;

  /** uint64_t address. */
  public static final long SEGMENT_ADDRESS = 0;

  /** uint32_t length. */
  public static final long SEGMENT_LENGTH = 8;

  /** uint32_t lkey. */
  public static final long SEGMENT_LKEY = 12;

  private Layouts() {}
}
