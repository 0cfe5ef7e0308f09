// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** How far a submitter's writes are ordered before the doorbell. */
public enum FenceMode {
  /** The NIC may be another device: the ringer releases at system scope. The default. */
  SYSTEM(0),
  /**
   * The NIC is a thread of the submitter's own GPU, and ring, doorbell record and CQ lie in its
   * memory: device scope throughout. Refused with {@link Placement#HOST}, unless the policy is
   * {@linkplain SubmitPolicy#unchecked unchecked}.
   */
  DEVICE(1);

  private final int code;

  FenceMode(int code) {
    this.code = code;
  }

  /** GV_FENCE_* of native/include/gpuverbs/queue.h. */
  int code() {
    return code;
  }
}
