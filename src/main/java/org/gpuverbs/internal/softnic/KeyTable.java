// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The memory regions of a NIC by key. Keys are 32 random bits, so that nobody guesses one, and a
 * stale key meets nothing. Lookups are wait-free and allocate nothing; changes are serialised.
 */
final class KeyTable {
  private static final int FIRST_CAPACITY = 64;

  private final SecureRandom random = new SecureRandom();
  private volatile AtomicReferenceArray<SoftMr> slots = new AtomicReferenceArray<>(FIRST_CAPACITY);
  private int live;
  // Slots that aren't null: live regions and SoftMr.NONE, which marks a removed one so that probing
  // goes on.
  private int used;

  /** The region with this key, or null. */
  SoftMr find(int key) {
    AtomicReferenceArray<SoftMr> table = slots;
    int mask = table.length() - 1;
    for (int i = key & mask; ; i = (i + 1) & mask) {
      SoftMr mr = table.getAcquire(i);
      if (mr == null) {
        return null;
      }
      if (mr.key == key && mr != SoftMr.NONE) {
        return mr;
      }
    }
  }

  /**
   * A key that no live region has. The caller holds this table's monitor until it has added the
   * region.
   */
  int freshKey() {
    while (true) {
      int key = random.nextInt();
      if (usable(key) && find(key) == null) {
        return key;
      }
    }
  }

  /** 0 and 0x100 mean "no key" in mlx5, 0xffffffff what uninitialised CQE-like memory holds. */
  static boolean usable(int key) {
    return key != 0 && key != -1 && key != 0x100;
  }

  synchronized void add(SoftMr mr) {
    if (2 * (used + 1) > slots.length()) {
      rebuild();
    }
    insert(slots, mr);
    live++;
    used++;
  }

  synchronized void remove(SoftMr mr) {
    AtomicReferenceArray<SoftMr> table = slots;
    int mask = table.length() - 1;
    for (int i = mr.key & mask; table.getAcquire(i) != null; i = (i + 1) & mask) {
      if (table.getAcquire(i) == mr) {
        table.setRelease(i, SoftMr.NONE);
        live--;
        return;
      }
    }
  }

  synchronized List<SoftMr> all() {
    List<SoftMr> all = new ArrayList<>(live);
    for (int i = 0; i < slots.length(); i++) {
      SoftMr mr = slots.getAcquire(i);
      if (mr != null && mr != SoftMr.NONE) {
        all.add(mr);
      }
    }
    return all;
  }

  private void rebuild() {
    List<SoftMr> all = all();
    int capacity = FIRST_CAPACITY;
    while (capacity < 4 * (all.size() + 1)) {
      capacity *= 2;
    }
    AtomicReferenceArray<SoftMr> table = new AtomicReferenceArray<>(capacity);
    all.forEach(mr -> insert(table, mr));
    used = all.size();
    slots = table;
  }

  private static void insert(AtomicReferenceArray<SoftMr> table, SoftMr mr) {
    int mask = table.length() - 1;
    int i = mr.key & mask;
    while (table.getAcquire(i) != null) {
      i = (i + 1) & mask;
    }
    table.setRelease(i, mr);
  }
}
