// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

/** Writes mlx5 CQEs: the body first, op_own by a release store. */
final class CqeWriter {
  private CqeWriter() {}

  /**
   * The last 8 bytes (sop_drop_qpn, wqe_counter, signature, op_own) are one release store, so a
   * reader of a collapsed CQE never sees an opcode with another WQE's counter.
   */
  static void write(
      long cqe,
      int opOwn,
      int sopQpn,
      int wqeCounter,
      long byteCount,
      int immediate,
      int syndrome,
      int vendor) {
    // 0x20: srqn_uidx = 0, imm.
    HostMemory.putLong(cqe + 0x20, (long) Integer.reverseBytes(immediate) << 32);
    // 0x28: app, app_op, app_info = 0; byte_cnt.
    HostMemory.putLong(cqe + 0x28, (long) Integer.reverseBytes((int) byteCount) << 32);
    // 0x30: timestamp = 0; errors have vendor_err_synd and syndrome in its last two bytes.
    HostMemory.putLong(cqe + 0x30, (long) vendor << 48 | (long) syndrome << 56);
    HostMemory.putLongRelease(
        cqe + 0x38, Long.reverseBytes((long) sopQpn << 32 | (wqeCounter & 0xffffL) << 16 | opOwn));
  }
}
