// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

/** A QP of a software NIC. Any thread. */
public final class SoftQp implements AutoCloseable {
  private final int number;

  SoftQp(int number) {
    this.number = number;
  }

  /** 24-bit QP number, unique on its NIC; kept over reset. */
  public int number() {
    return number;
  }

  /** Current state. */
  public SoftState state() {
    throw new UnsupportedOperationException();
  }

  /**
   * Makes the QP ready. Both sides have to connect; messages wait for the peer as long as its retries allow.
   *
   * @throws IllegalStateException if the QP isn't in RESET
   */
  public void connect(SoftRemote remote) {
    throw new UnsupportedOperationException();
  }

  /**
   * Back to RESET: indexes 0, doorbell cleared, nothing flushed. Returns once no NIC thread touches the QP's memory, so that
   * its owner can clear the rest.
   *
   * @throws IllegalStateException if the QP is closed, or a NIC thread doesn't let go within 10 s
   */
  public void reset() {
    throw new UnsupportedOperationException();
  }

  /** To ERROR; outstanding send and receive WQEs are flushed. In RESET or CLOSED nothing happens. */
  public void fail() {
    throw new UnsupportedOperationException();
  }

  /** Send WQEs consumed since creation. */
  public long wqes() {
    throw new UnsupportedOperationException();
  }

  /** Payload bytes moved by this QP's WQEs since creation. */
  public long bytes() {
    throw new UnsupportedOperationException();
  }

  /** Doorbells taken; several that fall together count once. */
  public long doorbells() {
    throw new UnsupportedOperationException();
  }

  /** Send CQEs written, merged ones not counted. */
  public long cqes() {
    throw new UnsupportedOperationException();
  }

  /** Receive WQEs consumed by the peer. */
  public long receives() {
    throw new UnsupportedOperationException();
  }

  /** How often a message found no receive at the peer. */
  public long rnrStalls() {
    throw new UnsupportedOperationException();
  }

  /** How often a message found the peer not answering. */
  public long retryStalls() {
    throw new UnsupportedOperationException();
  }

  /**
   * Closes the QP; returns once no NIC thread touches its memory. Twice is fine.
   *
   * @throws IllegalStateException if a NIC thread doesn't let go within 10 s: the memory must not be freed
   */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
