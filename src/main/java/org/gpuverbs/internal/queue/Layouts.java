// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import org.gpuverbs.internal.ffi.Native;
import org.gpuverbs.internal.ffi.gv_qp;
import org.gpuverbs.internal.ffi.gv_request;
import org.gpuverbs.internal.ffi.gv_segment;
import org.gpuverbs.internal.ffi.gv_sq;

/**
 * Sizes and offsets of the generated layouts, in bytes, as constants that the compiler folds. Touch
 * only after the native library is loaded: the generated classes call restricted methods when they
 * are initialised.
 */
public final class Layouts {
  static final long WQEBB = Native.GV_WQEBB();
  static final long CQE_BYTES = Native.GV_CQE_SIZE();
  static final long RQ_STRIDE = Native.GV_RQ_STRIDE();

  static final long QP_BYTES = gv_qp.sizeof();
  static final long QP_SQ = gv_qp.sq$offset();
  static final long QP_RING = gv_qp.ring$offset();
  static final long QP_RECEIVE_RING = gv_qp.receive_ring$offset();
  static final long QP_DBR = gv_qp.dbr$offset();
  static final long QP_DOORBELL = gv_qp.doorbell$offset();
  static final long QP_CQE = gv_qp.cqe$offset();
  static final long QP_DEVICE_SQ = gv_qp.device_sq$offset();

  static final long SQ_BYTES = gv_sq.sizeof();
  static final long SQ_COMPLETED = gv_sq.completed$offset();
  static final long SQ_STATE = gv_sq.state$offset();
  static final long SQ_ERROR_SYNDROME = gv_sq.error_syndrome$offset();
  static final long SQ_ERROR_INDEX = gv_sq.error_index$offset();
  static final long SQ_ERROR_LATCH = gv_sq.error_latch$offset();

  /** Slots handed out. */
  public static final long SQ_RESV_HEAD = gv_sq.resv_head$offset();

  /** Doorbells rung. */
  public static final long SQ_DOORBELLS = gv_sq.doorbells$offset();

  /** Submits that found no room. */
  public static final long SQ_FULL = gv_sq.full$offset();

  /** Slow waits. */
  public static final long SQ_STALLS = gv_sq.stalls$offset();

  /** Scan rounds. */
  public static final long SQ_SCANS = gv_sq.scans$offset();

  /** gv_request. */
  public static final long REQUEST_BYTES = gv_request.sizeof();

  /** uint8_t op. */
  public static final long REQUEST_OP = gv_request.op$offset();

  /** uint8_t flags. */
  public static final long REQUEST_FLAGS = gv_request.flags$offset();

  /** uint8_t segments. */
  public static final long REQUEST_SEGMENTS = gv_request.segments$offset();

  /** uint8_t wqebbs. */
  public static final long REQUEST_WQEBBS = gv_request.wqebbs$offset();

  /** uint32_t immediate. */
  public static final long REQUEST_IMMEDIATE = gv_request.immediate$offset();

  /** uint64_t remote_address. */
  public static final long REQUEST_REMOTE_ADDRESS = gv_request.remote_address$offset();

  /** uint32_t rkey. */
  public static final long REQUEST_RKEY = gv_request.rkey$offset();

  /** uint32_t inline_length. */
  public static final long REQUEST_INLINE_LENGTH = gv_request.inline_length$offset();

  /** gv_segment[3]. */
  public static final long REQUEST_SEGMENT = gv_request.segment$offset();

  /** uint64_t compare. */
  public static final long REQUEST_COMPARE = gv_request.compare$offset();

  /** uint64_t swap_or_add. */
  public static final long REQUEST_SWAP_OR_ADD = gv_request.swap_or_add$offset();

  /** uint64_t inline_address. */
  public static final long REQUEST_INLINE_ADDRESS = gv_request.inline_address$offset();

  /** gv_segment. */
  public static final long SEGMENT_BYTES = gv_segment.sizeof();

  /** uint64_t address. */
  public static final long SEGMENT_ADDRESS = gv_segment.address$offset();

  /** uint32_t length. */
  public static final long SEGMENT_LENGTH = gv_segment.length$offset();

  /** uint32_t lkey. */
  public static final long SEGMENT_LKEY = gv_segment.lkey$offset();

  private Layouts() {}
}
