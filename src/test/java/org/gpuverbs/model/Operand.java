// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

/** A value operand of an instruction. */
sealed interface Operand {
  record Constant(long value) implements Operand {}

  record Register(String name) implements Operand {}
}
