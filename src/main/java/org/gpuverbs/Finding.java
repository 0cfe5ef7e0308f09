// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;

/**
 * One line of what {@link Doctor} found.
 *
 * @param topic what was looked at, such as {@code port}, the same in every version
 * @param subject whose, such as {@code mlx5_0 port 1}; empty for the machine
 * @param verdict whether it is as a hardware path needs it
 * @param found what is there
 * @param fix what to do about it; empty if nothing
 */
public record Finding(String topic, String subject, Verdict verdict, String found, String fix) {
  /** How bad it is. */
  public enum Verdict {
    /** As it should be. */
    FOUND,
    /** Works, though slower or with less; or can't be told. */
    NOTE,
    /** A path that needs it can't be used. */
    MISSING
  }

  /** Checks that no component is null. */
  public Finding {
    Objects.requireNonNull(topic, "topic");
    Objects.requireNonNull(subject, "subject");
    Objects.requireNonNull(verdict, "verdict");
    Objects.requireNonNull(found, "found");
    Objects.requireNonNull(fix, "fix");
  }
}
