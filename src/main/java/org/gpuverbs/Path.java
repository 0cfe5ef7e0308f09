// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** Who consumes a queue pair's rings. The queue's memory format is the same in all of them. */
public enum Path {
  /**
   * A ConnectX NIC reads the ring and is rung by the submitter itself, or for it by a thread
   * ({@link Ringer}).
   */
  DIRECT,
  /** A thread drains the ring and posts to any RC verbs device. */
  PROXY,
  /** A software NIC inside this JVM drains the ring and moves the bytes; needs no hardware. */
  SOFT
}
