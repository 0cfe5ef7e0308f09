// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import static org.gpuverbs.internal.rendezvous.Parties.MEDIUM;
import static org.gpuverbs.internal.rendezvous.Parties.async;
import static org.gpuverbs.internal.rendezvous.Parties.failure;
import static org.gpuverbs.internal.rendezvous.Parties.get;
import static org.gpuverbs.internal.rendezvous.Parties.listen;
import static org.gpuverbs.internal.rendezvous.Parties.secret;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Rendezvous;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GroupTest {
  private static CompletableFuture<Rendezvous.Group> join(
      InetSocketAddress address, int rank, int size) {
    return async(() -> Rendezvous.group(address, rank, size, secret()));
  }

  private static byte[] record(int rank, int round) {
    byte[] bytes = new byte[rank * 1000];
    Arrays.fill(bytes, (byte) (rank + round));
    return bytes;
  }

  private static String summary(List<byte[]> records) {
    StringBuilder text = new StringBuilder();
    for (byte[] each : records) {
      text.append(each.length).append(':').append(each.length == 0 ? 0 : each[0]).append(' ');
    }
    return text.toString();
  }

  @Test
  void everyRankGetsAllRecordsInOrder() {
    int size = 6;
    try (Rendezvous rendezvous = listen()) {
      List<CompletableFuture<String>> others = new ArrayList<>();
      for (int rank = 1; rank < size; rank++) {
        int mine = rank;
        others.add(
            async(
                () -> {
                  try (var group = Rendezvous.group(rendezvous.address(), mine, size, secret())) {
                    assertEquals(mine, group.rank());
                    return summary(group.exchange(record(mine, 0)))
                        + summary(group.exchange(record(mine, 1)));
                  }
                }));
      }
      try (var group = rendezvous.group(size)) {
        assertEquals(0, group.rank());
        assertEquals(size, group.size());
        String expected =
            "0:0 1000:1 2000:2 3000:3 4000:4 5000:5 0:0 1000:2 2000:3 3000:4 4000:5 5000:6 ";
        assertEquals(
            expected,
            summary(group.exchange(record(0, 0))) + summary(group.exchange(record(0, 1))));
        others.forEach(other -> assertEquals(expected, get(other)));
      }
    }
  }

  @Test
  void aGroupOfOneNeedsNobody() {
    try (var group = Rendezvous.group(Parties.anyPort(), 0, 1, secret())) {
      assertEquals(List.of(3), group.exchange(new byte[3]).stream().map(b -> b.length).toList());
    }
  }

  @Test
  void aTakenRankIsRefusedAndTheGroupCompletes() {
    try (Rendezvous rendezvous = listen()) {
      var first = join(rendezvous.address(), 1, 3);
      var group = async(() -> rendezvous.group(3));
      var second = join(rendezvous.address(), 1, 3);
      var refused = CompletableFuture.anyOf(first, second);
      assertTrue(failure(refused).getMessage().contains("rank 1 is taken"));
      var third = join(rendezvous.address(), 2, 3);
      try (var root = get(group)) {
        assertEquals(3, root.size());
        get(third).close();
        get(first.isCompletedExceptionally() ? second : first).close();
      }
    }
  }

  @Test
  void anotherSizeIsRefusedByBothNumbers() {
    try (Rendezvous rendezvous = listen()) {
      var group = async(() -> rendezvous.group(2));
      String message = failure(join(rendezvous.address(), 1, 3)).getMessage();
      assertTrue(message.contains("its group has 2 ranks and this side's 3"), message);
      get(join(rendezvous.address(), 1, 2)).close();
      get(group).close();
    }
  }

  @Test
  void aPairPeerIsRefusedByAGroup() {
    try (Rendezvous rendezvous = listen()) {
      var group = async(() -> rendezvous.group(2));
      var peer = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
      String message = failure(peer).getMessage();
      assertTrue(message.contains("part of a group and this side of a pair"), message);
      get(join(rendezvous.address(), 1, 2)).close();
      get(group).close();
    }
  }

  @Test
  void missingRanksAreNamed() {
    try (Rendezvous rendezvous = Rendezvous.listen(Parties.anyPort(), secret().timeout(MEDIUM))) {
      var one = join(rendezvous.address(), 1, 4);
      var e = assertThrows(RdmaException.class, () -> rendezvous.group(4));
      assertTrue(e.getMessage().contains("missing ranks 2, 3"), e.getMessage());
      assertTrue(failure(one).getMessage().contains("gave the group up"));
    }
  }

  @Test
  void aLostRankIsNamedToAll() {
    try (Rendezvous rendezvous = listen()) {
      var one = join(rendezvous.address(), 1, 3);
      var two = join(rendezvous.address(), 2, 3);
      try (var root = rendezvous.group(3);
          var survivor = get(one)) {
        get(two).close();
        var theirs = async(() -> survivor.exchange(new byte[0]));
        var e = assertThrows(RdmaException.class, () -> root.exchange(new byte[0]));
        assertTrue(e.getMessage().contains("rank 2"), e.getMessage());
        assertTrue(failure(theirs).getMessage().contains("rank 2 was lost"));
      }
    }
  }

  @Test
  void aSilentRankIsNamedAtTheDeadline() {
    try (Rendezvous rendezvous = Rendezvous.listen(Parties.anyPort(), secret().timeout(MEDIUM))) {
      var one = join(rendezvous.address(), 1, 2);
      try (var root = rendezvous.group(2);
          var silent = get(one)) {
        var e = assertThrows(RdmaException.class, () -> root.exchange(new byte[0]));
        assertTrue(e.getMessage().contains("rank 1"), e.getMessage());
      }
    }
  }

  @Test
  void ranksAndSizesOutOfRangeAreRefused() {
    for (int[] bad : new int[][] {{0, 0}, {2, 2}, {-1, 2}, {0, Rendezvous.MAX_RANKS + 1}}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> Rendezvous.group(Parties.anyPort(), bad[0], bad[1], secret()));
    }
  }

  @Test
  void aRendezvousGathersOneGroupOnly() {
    try (Rendezvous rendezvous = listen()) {
      rendezvous.group(1).close();
      assertThrows(IllegalStateException.class, () -> rendezvous.group(1));
      assertThrows(IllegalStateException.class, rendezvous::accept);
    }
  }
}
