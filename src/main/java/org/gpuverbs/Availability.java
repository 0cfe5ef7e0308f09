// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;

/**
 * Whether a path can be used, and if not, why and what would enable it.
 *
 * @param available whether it can be used
 * @param reason what is missing; empty if available
 * @param fix what to do about it; empty if available
 */
public record Availability(boolean available, String reason, String fix) {
  /** Checks that no component is null. */
  public Availability {
    Objects.requireNonNull(reason, "reason");
    Objects.requireNonNull(fix, "fix");
  }

  /**
   * An available path.
   *
   * @return the value without reason and fix
   */
  public static Availability yes() {
    return new Availability(true, "", "");
  }

  /**
   * A path that can't be used.
   *
   * @param reason what is missing
   * @param fix what to do about it
   * @return the value
   */
  public static Availability no(String reason, String fix) {
    return new Availability(false, reason, fix);
  }
}
