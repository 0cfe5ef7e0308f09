// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** What a send may overtake. */
public enum SendOrder {
  /**
   * Nothing: it is released after all earlier ordered sends of its channel, host-only ones too, and
   * fails if one of them does.
   */
  ORDERED,

  /** Anything: it is released as soon as its own device work is over. */
  UNORDERED
}
