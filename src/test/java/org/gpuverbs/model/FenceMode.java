// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

/**
 * Who consumes the queue: a NIC, as a thread on another device, or a thread of the submitters' own
 * GPU.
 */
enum FenceMode {
  SYSTEM(1),
  DEVICE(0);

  /** The device that the NIC's thread is placed on; submitters run on device 0. */
  final int nicGpu;

  FenceMode(int nicGpu) {
    this.nicGpu = nicGpu;
  }
}
