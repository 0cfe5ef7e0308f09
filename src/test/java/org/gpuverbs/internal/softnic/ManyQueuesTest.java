// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.gpuverbs.internal.wire.Mlx5;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many QPs on one NIC thread and on several. */
class ManyQueuesTest {
  private static final int QUEUES = 24;
  private Pair pair;

  private final List<Side> senders = new ArrayList<>();
  private final List<Side> receivers = new ArrayList<>();

  private void open(int threads) {
    pair = new Pair(SoftNicConfig.defaults().withThreads(threads), false);
    for (int i = 0; i < QUEUES; i++) {
      Side sender = new Side(pair.nicA, pair.arena, false);
      Side receiver = new Side(pair.nicB, pair.arena, false);
      Pair.connect(sender, receiver);
      senders.add(sender);
      receivers.add(receiver);
    }
  }

  @AfterEach
  void close() {
    pair.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void fetchAddsOfAllQueuesAreAtomic(int threads) {
    open(threads);
    Side target = pair.b;
    int rounds = 40;
    int each = 32;
    BitSet fetched = new BitSet();
    for (int round = 0; round < rounds; round++) {
      for (Side sender : senders) {
        for (int i = 0; i < each; i++) {
          WqeBytes wqe =
              WqeBytes.of(Mlx5.OPCODE_ATOMIC_FA)
                  .remote(target.mr, 0)
                  .longs(1, 0)
                  .data(sender.mr, 8L * i, 8);
          sender.post(i == each - 1 ? wqe.signalled() : wqe);
        }
        sender.ring();
      }
      for (Side sender : senders) {
        assertEquals(Mlx5.CQE_REQ, sender.await(sender.pi - 1).opcode());
        long last = -1;
        for (int i = 0; i < each; i++) {
          long value = sender.word(8L * i);
          // Each number is given once, and in order within a queue.
          assertEquals(false, fetched.get((int) value));
          fetched.set((int) value);
          assertEquals(true, value > last);
          last = value;
        }
      }
    }
    assertEquals((long) rounds * each * QUEUES, target.word(0));
    assertEquals(rounds * each * QUEUES, fetched.cardinality());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void maskedCompareSwapsOfAllQueuesAreAtomic(int threads) {
    open(threads);
    // A lock bit: exactly one compare-swap a round finds it clear.
    for (int round = 0; round < 100; round++) {
      pair.b.word(0, 0x1234_0000L);
      for (Side sender : senders) {
        sender.send(
            WqeBytes.of(Mlx5.OPCODE_ATOMIC_MASKED_CS)
                .opmod(Mlx5.OPMOD_MASKED_8_BYTES)
                .signalled()
                .remote(pair.b.mr, 0)
                .longs(1, 0)
                .longs(1, 1)
                .data(sender.mr, 0, 8));
      }
      long winners =
          senders.stream()
              .filter(
                  sender -> {
                    sender.await(sender.pi - 2);
                    return (sender.word(0) & 1) == 0;
                  })
              .count();
      assertEquals(1, winners);
      assertEquals(0x1234_0001L, pair.b.word(0));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void everyQueueMovesItsOwnBytes(int threads) {
    open(threads);
    Random random = new Random(threads);
    for (int round = 0; round < 50; round++) {
      for (int q = 0; q < QUEUES; q++) {
        Side sender = senders.get(q);
        for (int i = 0; i < 16; i++) {
          sender.word(8L * i, random.nextLong());
          WqeBytes wqe =
              WqeBytes.of(Mlx5.OPCODE_RDMA_WRITE)
                  .remote(receivers.get(q).mr, 8L * i)
                  .data(sender.mr, 8L * i, 8);
          sender.post(i == 15 ? wqe.signalled() : wqe);
        }
        sender.ring();
      }
      for (int q = 0; q < QUEUES; q++) {
        senders.get(q).await(senders.get(q).pi - 1);
        for (int i = 0; i < 16; i++) {
          assertEquals(senders.get(q).word(8L * i), receivers.get(q).word(8L * i));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void bothDirectionsAtOnceMakeProgress(int threads) {
    open(threads);
    for (int round = 0; round < 200; round++) {
      for (int q = 0; q < QUEUES; q++) {
        Side left = senders.get(q);
        Side right = receivers.get(q);
        left.receive(0, 8);
        right.receive(0, 8);
        left.send(WqeBytes.of(Mlx5.OPCODE_SEND).signalled().data(left.mr, 64, 8));
        right.send(WqeBytes.of(Mlx5.OPCODE_SEND).signalled().data(right.mr, 64, 8));
      }
      for (int q = 0; q < QUEUES; q++) {
        for (Side side : List.of(senders.get(q), receivers.get(q))) {
          assertEquals(Mlx5.CQE_REQ, side.await(side.pi - 1).opcode());
          assertEquals(Mlx5.CQE_RESP_SEND, side.receiveCq.take().opcode());
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void anErrorOnOneQueueLeavesTheOthers(int threads) {
    open(threads);
    senders.getFirst().send(WqeBytes.of(0x3f));
    IntStream.range(1, QUEUES)
        .forEach(
            q -> {
              Side sender = senders.get(q);
              assertEquals(
                  Mlx5.CQE_REQ, sender.execute(WqeBytes.of(Mlx5.OPCODE_NOP).signalled()).opcode());
            });
    assertNotEquals(Mlx5.CQE_REQ, senders.getFirst().await(0).opcode());
  }
}
