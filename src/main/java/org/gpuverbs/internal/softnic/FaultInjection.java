// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

/**
 * Test hook: decides the fate of each WQE. Called on NIC threads; must be quick and must not throw.
 */
@FunctionalInterface
public interface FaultInjection {
  /**
   * Called once for each send WQE, before it is executed.
   *
   * @param qpNumber the QP
   * @param ordinal the WQE's number since the QP was last connected, from 0
   * @param opcode its mlx5 opcode
   */
  Fault fault(int qpNumber, long ordinal, int opcode);
}
