// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** How far a deferred send has come. */
public enum SendState {
  /** For device work, for sends before it, or for room. It can be cancelled. */
  WAITING,

  /** Handed to its queue pair, not complete yet. */
  RELEASED,

  /** Complete: the data has arrived. */
  DELIVERED,

  /** Withdrawn before its release. */
  CANCELLED,

  /** Not delivered; {@link DeferredSender#poll} says why. */
  FAILED
}
