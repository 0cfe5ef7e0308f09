// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

/**
 * How large a WQE is. The unit of the hardware's size field is 16 bytes: the control,
 * remote-address, atomic and each non-empty data segment take one (rdma-core, providers/mlx5/qp.c).
 */
public final class WqeSize {
  /** The most 16-byte units of one WQE: 6 bits of the control segment. */
  public static final int MAX_UNITS = 63;

  /**
   * The most inline bytes of one WRITE: control and remote-address segment, then a 4-byte header.
   */
  public static final int MAX_INLINE = (MAX_UNITS - 2) * 16 - 4;

  /**
   * The most basic blocks that a WQE without inline data takes: control, address, three segments.
   */
  public static final int MAX_WQEBBS_WITHOUT_INLINE = 2;

  private WqeSize() {}

  /** Basic blocks of a WQE of that many 16-byte units. */
  public static int wqebbs(int units) {
    return (units + 3) / 4;
  }

  /** 16-byte units of an inline segment. */
  public static int inlineUnits(int bytes) {
    return (4 + bytes + 15) / 16;
  }

  /** Basic blocks of the largest inline WRITE. */
  public static int inlineWqebbs(int maxInline) {
    return wqebbs(2 + inlineUnits(maxInline));
  }
}
