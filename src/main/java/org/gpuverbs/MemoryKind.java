// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** Where a {@link DeviceBuffer} lies. */
public enum MemoryKind {
  /** GPU memory. The CPU can't touch it: no segment is ever made over it. */
  DEVICE,
  /** Page-locked host memory, which kernels and the CPU reach under one address. */
  PINNED
}
