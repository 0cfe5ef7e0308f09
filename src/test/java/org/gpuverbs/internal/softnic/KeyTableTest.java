// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.gpuverbs.internal.wire.Mlx5;
import org.junit.jupiter.api.Test;

class KeyTableTest {
  private final KeyTable table = new KeyTable();

  private SoftMr add() {
    SoftMr mr = new SoftMr(null, table.freshKey(), MemorySegment.NULL, null, 0);
    table.add(mr);
    return mr;
  }

  @Test
  void itHoldsWhatAMapHolds() {
    Map<Integer, SoftMr> expected = new HashMap<>();
    List<SoftMr> live = new ArrayList<>();
    Random random = new Random(3);
    for (int i = 0; i < 20_000; i++) {
      if (live.isEmpty() || random.nextInt(5) < 3) {
        SoftMr mr = add();
        assertNull(expected.put(mr.key, mr));
        live.add(mr);
      } else {
        SoftMr mr = live.remove(random.nextInt(live.size()));
        table.remove(mr);
        expected.remove(mr.key);
        assertNull(table.find(mr.key));
      }
    }
    expected.forEach((key, mr) -> assertSame(mr, table.find(key)));
    assertEquals(expected.size(), table.all().size());
  }

  @Test
  void aTableThatIsFilledAndEmptiedManyTimesStaysSmall() {
    for (int i = 0; i < 100_000; i++) {
      SoftMr mr = add();
      table.remove(mr);
      table.remove(mr);
      assertNull(table.find(mr.key));
    }
    assertEquals(List.of(), table.all());
  }

  @Test
  void keysThatMeanNoneAreNotFound() {
    add();
    assertNull(table.find(0));
    assertNull(table.find(-1));
    assertNull(table.find(Mlx5.INVALID_LKEY));
  }
}
