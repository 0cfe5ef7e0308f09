// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

/** The set of threads that an operation may interact with directly (PTX ISA 8.5). */
enum Scope {
  CTA,
  GPU,
  SYS;

  /** Where a thread runs. A NIC or a CPU thread is a thread on another device. */
  record Place(int gpu, int cta) {}

  boolean includes(Place self, Place other) {
    return switch (this) {
      case CTA -> self.equals(other);
      case GPU -> self.gpu() == other.gpu();
      case SYS -> true;
    };
  }

  String token() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
