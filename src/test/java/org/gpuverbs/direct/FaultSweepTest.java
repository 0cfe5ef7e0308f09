// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.gpuverbs.RdmaException;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** A whole life of path DIRECT, with each of its library calls failing in turn. */
@OnStandIn
class FaultSweepTest {
  private static final int ENOMEM = 12;
  private static final Duration MOST = Duration.ofSeconds(60);

  /** Calls that give something back. Closing reports a failure and keeps what is not given back. */
  private static final Set<String> CLOSING =
      Set.of(
          "ibv_close_device",
          "ibv_dealloc_pd",
          "ibv_dereg_mr",
          "mlx5dv_devx_obj_destroy",
          "mlx5dv_devx_umem_dereg");

  /** Calls whose failure has a way around it, which is reported and not an error. */
  private static final Set<String> OPTIONAL =
      Set.of(
          "ibv_destroy_ah",
          "ibv_destroy_cq",
          "ibv_destroy_qp",
          "ibv_get_async_event",
          "mlx5dv_devx_alloc_uar",
          "mlx5dv_devx_get_event",
          "mlx5dv_devx_obj_modify/2ERR");

  /** Calls of the device's thread, whose number is a matter of timing. */
  private static final Set<String> ANY_TIME =
      Set.of("ibv_get_async_event", "mlx5dv_devx_get_event", "mlx5dv_devx_obj_modify/2ERR");

  @TestFactory
  Stream<DynamicTest> everyCallFailsInTurn() throws InterruptedException {
    List<DynamicTest> all = new ArrayList<>();
    // The first life finds out what does not change, and later ones need not ask again.
    counted(all, new ArrayList<>());
    all.clear();
    List<String> told = new ArrayList<>();
    counted(all, told);
    assertTrue(all.size() > 80, told.toString());
    return all.stream();
  }

  private static void counted(List<DynamicTest> into, List<String> told)
      throws InterruptedException {
    try (StandIn machine = StandIn.start()) {
      Life.live();
      StandIn.assertNothingRefused();
      for (String symbol : StandIn.symbols()) {
        long calls = StandIn.get("calls." + symbol);
        told.add(symbol + " " + calls);
        long most = ANY_TIME.contains(symbol) ? Math.min(calls, 1) : calls;
        for (long n = 1; n <= most; n++) {
          for (int errno : new int[] {StandIn.EREMOTEIO, ENOMEM}) {
            long nth = n;
            into.add(
                DynamicTest.dynamicTest(
                    symbol + " call " + n + " fails with errno " + errno,
                    () ->
                        Assertions.assertTimeoutPreemptively(
                            MOST, () -> fails(symbol, nth, errno))));
          }
        }
      }
    }
  }

  private static void fails(String symbol, long nth, int errno) throws Exception {
    StandIn machine = StandIn.start();
    try (Recording recording = new Recording()) {
      if (CLOSING.contains(symbol)) {
        recording.enable("org.gpuverbs.CloseQuarantined").withoutThreshold();
        recording.start();
      }
      machine.fail(symbol, nth, errno);
      RdmaException thrown = null;
      try {
        Life.live();
      } catch (RdmaException e) {
        thrown = e;
      }
      if (!ANY_TIME.contains(symbol)) {
        assertEquals(1, StandIn.get("faults"), symbol + " was not reached");
      }
      assertEquals(0, StandIn.get("abandoned"));
      if (CLOSING.contains(symbol) && thrown == null) {
        assertTrue(quarantined(recording), "a failed " + symbol + " was not reported");
      } else {
        check(symbol, errno, thrown);
      }
    } finally {
      StandIn.drop();
      machine.close();
    }
  }

  private static void check(String symbol, int errno, RdmaException thrown) {
    if (thrown == null) {
      assertTrue(OPTIONAL.contains(symbol), symbol + " failed, and nobody noticed");
    } else {
      assertFalse(thrown.hint().isBlank(), "no hint: " + thrown);
      assertTrue(
          thrown.errno() == errno || thrown.getMessage().contains("errno " + errno),
          "without its errno: " + thrown);
    }
    if (!CLOSING.contains(symbol)) {
      assertEquals(List.of(), StandIn.leaks(), () -> "after " + thrown);
    }
  }

  private static boolean quarantined(Recording recording) throws IOException {
    Path file = Files.createTempFile("sweep", ".jfr");
    try {
      recording.stop();
      recording.dump(file);
      return !RecordingFile.readAllEvents(file).isEmpty();
    } finally {
      Files.delete(file);
    }
  }
}
