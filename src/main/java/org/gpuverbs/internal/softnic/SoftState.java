// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

/** States of a software NIC's QP. */
public enum SoftState {
  /** Created or reset: the NIC doesn't look at its rings. */
  RESET,
  /** Connected. */
  READY,
  /** An error or {@link SoftQp#fail}: whatever is posted is flushed. */
  ERROR,
  /** Closed for good; the NIC no longer touches its memory. */
  CLOSED
}
