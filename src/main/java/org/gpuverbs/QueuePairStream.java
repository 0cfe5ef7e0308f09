// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.DeviceEvents;

/** An event of a queue pair is the index behind the last slot that was handed out. */
final class QueuePairStream extends DeviceStream implements DeviceEvents {
  private static final int EIO = 5;

  private final QueuePair queuePair;
  private final int generation;

  QueuePairStream(QueuePair queuePair) {
    this.queuePair = queuePair;
    this.generation = queuePair.generation();
  }

  @Override
  DeviceEvents events() {
    return this;
  }

  @Override
  public int idle() {
    long event = record();
    return event < 0 ? (int) event : query(event);
  }

  @Override
  public long record() {
    long slots = queuePair.submitted();
    return slots < 0 ? -EIO : slots;
  }

  @Override
  public long order(long event) {
    return event;
  }

  @Override
  public int query(long event) {
    if (event == 0) {
      return DONE;
    }
    long result =
        generation == queuePair.generation() ? queuePair.poll(event - 1) : Status.NOT_CONNECTED;
    if (result == Status.DONE) {
      return DONE;
    }
    return result == Status.PENDING ? NOT_YET : -EIO;
  }

  @Override
  public void release(long event) {}

  @Override
  public String describe(int error) {
    return "work of " + queuePair + " failed: it was reset, or is now " + queuePair.state();
  }

  /** Such as {@code work of QueuePair 17}. */
  @Override
  public String toString() {
    return "work of " + queuePair;
  }
}
