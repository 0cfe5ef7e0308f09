// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

/**
 * The qualifier of an operation (PTX ISA 8.4). {@code .volatile} and {@code .mmio} are RELAXED at
 * SYS.
 */
enum Order {
  WEAK,
  RELAXED,
  ACQUIRE,
  RELEASE,
  ACQ_REL,
  SC;

  boolean acquires() {
    return this == ACQUIRE || this == ACQ_REL || this == SC;
  }

  boolean releases() {
    return this == RELEASE || this == ACQ_REL || this == SC;
  }

  String token() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
