// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventPoolTest {
  /** Counts its objects. */
  private static final class FakeDevice implements EventPool.Device {
    final List<Long> destroyed = new ArrayList<>();
    long created;
    boolean broken;

    @Override
    public long create() {
      return broken ? -5 : created++;
    }

    @Override
    public int record(long event, long stream) {
      return broken ? -5 : 0;
    }

    @Override
    public int query(long event) {
      return DeviceEvents.DONE;
    }

    @Override
    public void destroy(long event) {
      destroyed.add(event);
    }
  }

  private final FakeDevice device = new FakeDevice();
  private final EventPool pool = new EventPool(device);

  @Test
  void anEventThatWasGivenBackIsUsedAgainUnderAnotherHandle() {
    long first = pool.take();
    pool.release(first);
    long second = pool.take();
    assertNotEquals(first, second);
    assertEquals(pool.event(second), 0);
    assertEquals(1, device.created);
  }

  @Test
  void aHandleThatWasGivenBackIsRefusedByWhateverAsks() {
    long stale = pool.take();
    pool.release(stale);
    long current = pool.take();
    assertThrows(IllegalStateException.class, () -> pool.query(stale));
    assertThrows(IllegalStateException.class, () -> pool.record(stale, 0, 0));
    assertThrows(IllegalStateException.class, () -> pool.release(stale));
    assertEquals(DeviceEvents.DONE, pool.query(current));
  }

  @Test
  void handlesStayApartWhileThePoolGrows() {
    List<Long> handles = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      long handle = pool.take();
      assertEquals(i, pool.event(handle));
      handles.add(handle);
    }
    assertEquals(1000, pool.inUse());
    handles.forEach(pool::release);
    assertEquals(0, pool.inUse());
    assertEquals(1000, pool.count());
  }

  @Test
  void aDeviceThatCantMakeAnEventSaysWhy() {
    device.broken = true;
    assertEquals(-5, pool.take());
    assertEquals(0, pool.count());
  }

  @Test
  void closingFreesEveryEventOnceAlsoThoseThatAreHeld() {
    long held = pool.take();
    long idle = pool.take();
    pool.release(idle);
    pool.close();
    pool.close();
    assertThrows(IllegalStateException.class, pool::take);
    pool.release(held);
    assertEquals(List.of(0L, 1L), device.destroyed);
  }
}
