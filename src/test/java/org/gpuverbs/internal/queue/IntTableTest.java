// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class IntTableTest {
  @Property(tries = 200)
  void holdsWhatAMapHolds(@ForAll List<@IntRange(min = -40, max = 40) Integer> changes) {
    IntTable<String> table = new IntTable<>();
    Map<Integer, String> map = new HashMap<>();
    for (int change : changes) {
      int key = Math.abs(change) << 12;
      if (change < 0) {
        table.remove(key);
        map.remove(key);
      } else {
        table.put(key, "value " + map.size());
        map.put(key, "value " + map.size());
      }
      assertEquals(map.size(), table.size());
    }
    for (int i = 0; i <= 40; i++) {
      assertEquals(map.get(i << 12), table.get(i << 12));
    }
  }
}
