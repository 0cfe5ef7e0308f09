// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

/** When a software NIC reads a QP's doorbell record. */
public enum DoorbellRule {
  /** After a doorbell alone, so that a lost doorbell is a lost WQE: for tests. */
  STRICT,
  /**
   * After a doorbell, and again whenever the NIC thread has rested, or after some thousand passes
   * without rest.
   *
   * <p>A doorbell here is a word in memory, which an earlier doorbell that arrives late may
   * overwrite, and the record that is read then may be the earlier one too (native/ORDERING.md,
   * "doorbell word in memory"). The record itself never goes back, so that looking again finds what
   * the lost word stood for.
   */
  LOOKS_AGAIN,
  /** At each pass: doorbells are not needed at all. */
  POLLED;

  /** Names the rule of {@link SoftNicConfig#defaults()}: {@code strict} or {@code looks-again}. */
  static final String PROPERTY = "org.gpuverbs.softnic.doorbells";

  /** {@link #LOOKS_AGAIN}, unless {@link #PROPERTY} says otherwise. */
  static DoorbellRule byProperty() {
    String name = System.getProperty(PROPERTY, "looks-again");
    return switch (name) {
      case "strict" -> STRICT;
      case "looks-again" -> LOOKS_AGAIN;
      default ->
          throw new IllegalArgumentException(
              PROPERTY + " is " + name + ": take strict or looks-again");
    };
  }
}
