// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An RDMA call failed for a reason that is not a mistake in its arguments. Mistakes give {@link
 * IllegalArgumentException} or {@link IllegalStateException} instead.
 */
public final class RdmaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What failed. */
  private final String what;

  /** The {@link Status} constant. */
  private final long code;

  /** The errno. */
  private final int errno;

  /** The {@link Syndrome}. */
  private final int syndrome;

  /** What to do. */
  private final String hint;

  /**
   * Makes an exception.
   *
   * @param what what failed, without a full stop
   * @param code a negative {@link Status} constant, or 0
   * @param errno a positive errno, or 0
   * @param syndrome a {@link Syndrome}, or 0
   * @param hint what to do about it; may be empty
   * @param cause the cause, or null
   */
  public RdmaException(
      String what, long code, int errno, int syndrome, String hint, @Nullable Throwable cause) {
    super(message(what, errno, hint), cause);
    this.what = what;
    this.code = code;
    this.errno = errno;
    this.syndrome = syndrome;
    this.hint = Objects.requireNonNull(hint, "hint");
  }

  /** As another, which becomes the cause, under a heading. */
  static RdmaException because(String heading, RdmaException cause) {
    return new RdmaException(
        heading + cause.what, cause.code, cause.errno, cause.syndrome, cause.hint, cause);
  }

  /** For a result of submit, poll or post. */
  static RdmaException of(String what, long result) {
    return of(what, result, null);
  }

  /** For a result of submit, poll or post. */
  static RdmaException of(String what, long result, @Nullable Throwable cause) {
    int syndrome = result > 0 ? (int) result : 0;
    String text = Status.describe(result);
    int colon = text.indexOf(": ");
    return new RdmaException(
        what + ": " + (colon < 0 ? text : text.substring(0, colon)),
        syndrome == 0 ? result : Status.QP_ERROR,
        0,
        syndrome,
        colon < 0 ? "" : text.substring(colon + 2),
        cause);
  }

  private static String message(String what, int errno, String hint) {
    StringBuilder text = new StringBuilder(what);
    if (errno != 0) {
      text.append(" (errno ").append(errno).append(')');
    }
    if (!hint.isEmpty()) {
      text.append(": ").append(hint);
    }
    return text.toString();
  }

  /**
   * The status.
   *
   * @return a negative {@link Status} constant, or 0 if none applies
   */
  public long code() {
    return code;
  }

  /**
   * The operating system's error.
   *
   * @return a positive errno, or 0 if none applies
   */
  public int errno() {
    return errno;
  }

  /**
   * The NIC's reason.
   *
   * @return a {@link Syndrome}, or 0 if none applies
   */
  public int syndrome() {
    return syndrome;
  }

  /**
   * What to do about it.
   *
   * @return a sentence, or the empty string
   */
  public String hint() {
    return hint;
  }
}
