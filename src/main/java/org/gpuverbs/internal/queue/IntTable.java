// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import org.jspecify.annotations.Nullable;

/**
 * A map from positive ints that boxes nothing: rare writers copy it, readers never wait. Any
 * thread.
 */
public final class IntTable<T> {
  private record Slots(int[] keys, @Nullable Object[] values, int size) {}

  private volatile Slots slots = new Slots(new int[8], new Object[8], 0);

  /** The value, or null. Allocates nothing. */
  @SuppressWarnings("unchecked")
  public @Nullable T get(int key) {
    Slots s = slots;
    return (T) s.values[find(s, key)];
  }

  /** Adds or replaces. */
  public synchronized void put(int key, T value) {
    Slots s = slots;
    slots = copy(s, key, value, (s.size + 2) * 2);
  }

  /** Removes, if there. */
  public synchronized void remove(int key) {
    Slots s = slots;
    slots = copy(s, key, null, (s.size + 2) * 2);
  }

  /** How many values. */
  public int size() {
    return slots.size;
  }

  private static Slots copy(Slots from, int without, @Nullable Object value, int room) {
    int capacity = Integer.highestOneBit(room - 1) * 2;
    Slots to = new Slots(new int[capacity], new Object[capacity], 0);
    int size = 0;
    for (int i = 0; i < from.keys.length; i++) {
      Object old = from.values[i];
      if (old != null && from.keys[i] != without) {
        size += insert(to, from.keys[i], old);
      }
    }
    if (value != null) {
      size += insert(to, without, value);
    }
    return new Slots(to.keys, to.values, size);
  }

  private static int insert(Slots to, int key, Object value) {
    int at = find(to, key);
    to.keys[at] = key;
    to.values[at] = value;
    return 1;
  }

  /** Where the key is, or the free slot where it would be. At most half of the slots are taken. */
  private static int find(Slots s, int key) {
    int mask = s.keys.length - 1;
    int at = key * 0x9e3779b9 >>> 8 & mask;
    while (s.values[at] != null && s.keys[at] != key) {
      at = at + 1 & mask;
    }
    return at;
  }
}
