// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

/** The events of one stream of a device that has event objects, taken from the device's pool. */
public abstract class PooledEvents implements DeviceEvents {
  private final EventPool pool;
  private final long stream;
  private long recorded;

  /** For a stream of the pool's device, which the device calls {@code stream}. */
  protected PooledEvents(EventPool pool, long stream) {
    this.pool = pool;
    this.stream = stream;
  }

  /** Under the monitor, so that the numbers are in the stream's order. */
  @Override
  public synchronized long record() {
    long event = pool.take();
    if (event < 0) {
      return event;
    }
    int result = pool.record(event, stream, recorded++);
    if (result < 0) {
      pool.release(event);
      return result;
    }
    return event;
  }

  @Override
  public long order(long event) {
    return pool.order(event);
  }

  @Override
  public int query(long event) {
    return pool.query(event);
  }

  @Override
  public void release(long event) {
    pool.release(event);
  }
}
