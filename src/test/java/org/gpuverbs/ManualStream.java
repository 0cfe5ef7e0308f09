// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import org.gpuverbs.internal.deferred.DeviceEvents;
import org.gpuverbs.internal.deferred.EventPool;
import org.gpuverbs.internal.deferred.PooledEvents;

/** A stream whose work is over when a test says so. */
final class ManualStream extends DeviceStream implements EventPool.Device {
  private static final int EIO = 5;

  final EventPool pool = new EventPool(this);
  private final String name;
  private final Events events = new Events();

  /** What each event object marks. */
  private final long[] marks = new long[1 << 20];

  private long objects;
  private volatile long enqueued;
  private volatile long completed;
  private volatile long failedAt = Long.MAX_VALUE;
  private volatile boolean capturing;
  volatile long queries;
  volatile long records;

  ManualStream(String name) {
    this.name = name;
  }

  /** One piece of work. */
  ManualStream work() {
    enqueued++;
    return this;
  }

  /** The oldest piece that is not over is. */
  void complete() {
    completed++;
  }

  void completeAll() {
    completed = enqueued;
  }

  /** As a device: what is not over by now never will be. */
  void fail() {
    failedAt = completed + 1;
  }

  void capturing(boolean now) {
    capturing = now;
  }

  @Override
  DeviceEvents events() {
    return events;
  }

  private int state(long mark) {
    if (completed >= mark) {
      return DeviceEvents.DONE;
    }
    return failedAt <= mark ? -EIO : DeviceEvents.NOT_YET;
  }

  @Override
  public long create() {
    return objects++;
  }

  @Override
  public int record(long event, long stream) {
    records++;
    marks[(int) event] = enqueued;
    return state(enqueued) < 0 ? -EIO : 0;
  }

  @Override
  public int query(long event) {
    queries++;
    return state(marks[(int) event]);
  }

  @Override
  public void destroy(long event) {}

  @Override
  public String toString() {
    return "manual stream " + name;
  }

  private final class Events extends PooledEvents {
    Events() {
      super(pool, 0);
    }

    @Override
    public int idle() {
      if (capturing) {
        throw new IllegalStateException(
            ManualStream.this + " is capturing a graph: end the capture, or use another stream");
      }
      return state(enqueued);
    }

    @Override
    public String describe(int error) {
      return "the device of " + ManualStream.this + " failed";
    }
  }
}
