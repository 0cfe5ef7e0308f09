// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** Who tells the NIC that there is work. */
public enum Ringer {
  /** Whoever submits writes the NIC's doorbell register itself. */
  SUBMITTER,
  /**
   * Path DIRECT: a thread of the library watches what submitters publish, in host memory, and
   * writes the register. For GPUs that can't have the register mapped; one hop slower.
   */
  CPU_THREAD
}
