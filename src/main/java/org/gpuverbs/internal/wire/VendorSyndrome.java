// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.wire;

/** The software NIC's vendor_err_synd values: which check refused a WQE. */
public final class VendorSyndrome {
  private VendorSyndrome() {}

  public static final int NONE = 0;
  public static final int WQE_INDEX = 0x01;
  public static final int WQE_QP_NUMBER = 0x02;
  public static final int WQE_SIZE = 0x03;
  public static final int WQE_OPCODE = 0x04;
  public static final int WQE_SEGMENTS = 0x05;
  public static final int QUEUE_OVERRUN = 0x06;
  public static final int KEY = 0x10;
  public static final int BOUNDS = 0x11;
  public static final int PERMISSION = 0x12;
  public static final int MEMORY_CLOSED = 0x13;
  public static final int MESSAGE_TOO_LONG = 0x14;
  public static final int RESULT_LENGTH = 0x15;
  public static final int ALIGNMENT = 0x16;
  public static final int RECEIVE_TOO_SHORT = 0x17;
  public static final int NO_RECEIVE_QUEUE = 0x18;
  public static final int CQ_OVERRUN = 0x19;
  public static final int COPY_FAILED = 0x1a;
  public static final int INJECTED = 0x1e;
  public static final int INTERNAL = 0x1f;

  /** What the check looks at, for error texts. */
  public static String name(int vendorSyndrome) {
    return switch (vendorSyndrome) {
      case NONE -> "none";
      case WQE_INDEX -> "the WQE's index isn't the one that is due";
      case WQE_QP_NUMBER -> "the WQE names another QP";
      case WQE_SIZE -> "the WQE's size is zero or goes past the producer index";
      case WQE_OPCODE -> "unknown opcode or modifier";
      case WQE_SEGMENTS -> "the WQE's segments don't fit its opcode";
      case QUEUE_OVERRUN -> "the producer index is more than the ring's depth ahead";
      case KEY -> "unknown key";
      case BOUNDS -> "outside the memory region";
      case PERMISSION -> "the memory region doesn't allow it";
      case MEMORY_CLOSED -> "the memory region's arena is closed";
      case MESSAGE_TOO_LONG -> "longer than the maximum message";
      case RESULT_LENGTH -> "wrong length of an atomic's result";
      case ALIGNMENT -> "unaligned atomic";
      case RECEIVE_TOO_SHORT -> "the receive buffer is too short";
      case NO_RECEIVE_QUEUE -> "the peer has no receive queue";
      case CQ_OVERRUN -> "the completion queue is full";
      case COPY_FAILED -> "a copy from or to a device failed";
      case INJECTED -> "injected fault";
      case INTERNAL -> "the software NIC failed";
      default -> "0x" + Integer.toHexString(vendorSyndrome);
    };
  }
}
