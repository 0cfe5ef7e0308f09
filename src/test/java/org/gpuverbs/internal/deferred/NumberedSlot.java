// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

/** Sends a number. */
final class NumberedSlot extends Slot {
  int number;
  int disposed;

  NumberedSlot(int index) {
    super(index);
  }

  @Override
  protected void dispose() {
    disposed++;
  }
}
