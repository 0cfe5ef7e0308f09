// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.util.concurrent.atomic.AtomicInteger;
import org.gpuverbs.Rendezvous;

/**
 * What peers and groups have in common: one exchange at a time, any thread may close, a failure
 * closes.
 */
abstract class Exclusive implements AutoCloseable {
  private static final int IDLE = 0;
  private static final int BUSY = 1;
  private static final int CLOSED = 2;

  private final AtomicInteger state = new AtomicInteger(IDLE);
  private final String what;

  Exclusive(String what) {
    this.what = what;
  }

  /** Checks the record and takes the turn. */
  final byte[] enter(byte[] record) {
    if (record.length > Rendezvous.MAX_RECORD) {
      throw new IllegalArgumentException(
          "record of %d bytes: %d is the most, so exchange it in parts"
              .formatted(record.length, Rendezvous.MAX_RECORD));
    }
    byte[] copy = record.clone();
    switch (state.compareAndExchange(IDLE, BUSY)) {
      case CLOSED -> throw new IllegalStateException("this %s is closed".formatted(what));
      case BUSY ->
          throw new IllegalStateException(
              "another thread is exchanging on this %s: one at a time".formatted(what));
      default -> {
        return copy;
      }
    }
  }

  final void leave() {
    state.compareAndSet(BUSY, IDLE);
  }

  final boolean closed() {
    return state.get() == CLOSED;
  }

  final boolean busy() {
    return state.get() == BUSY;
  }

  abstract void closeWires();

  @Override
  public final void close() {
    if (state.getAndSet(CLOSED) != CLOSED) {
      closeWires();
    }
  }
}
