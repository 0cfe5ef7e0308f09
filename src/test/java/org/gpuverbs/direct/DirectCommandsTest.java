// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.gpuverbs.internal.cli.Main;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands on a machine with a ConnectX. */
@OnStandIn
@Timeout(180)
class DirectCommandsTest {
  @TempDir Path directory;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private int run(String... words) {
    PrintStream out = new PrintStream(bytes);
    return Main.run(List.of(words), out, out);
  }

  private String out() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private String file() throws IOException {
    byte[] content = new byte[50_000];
    new Random(7).nextBytes(content);
    return Files.write(directory.resolve("file"), content).toString();
  }

  @Test
  void theDemoMovesAFileByDirectUnderEveryPolicy() throws Exception {
    try (StandIn machine = StandIn.start()) {
      assertEquals(0, run("demo", "--cpu", "--cold", "--nic", "mlx5_0", file()), this::out);
      assertTrue(
          out().contains("path DIRECT on mlx5_0, doorbell DEDICATED rung by SUBMITTER"), out());
      assertTrue(out().contains("12 of 12 rows verified"), out());
      StandIn.assertNothingRefused();
    }
  }

  @Test
  void thePathCanBeChosen() throws Exception {
    try (StandIn machine = StandIn.start()) {
      String[] soft = {"demo", "--cpu", "--cold", "--path", "soft", "--policies", "turn", file()};
      assertEquals(0, run(soft), this::out);
      assertTrue(out().contains("path SOFT on soft0"), out());
      String[] direct = {
        "demo", "--cpu", "--cold", "--path", "direct", "--policies", "turn", "--json", file()
      };
      bytes.reset();
      assertEquals(0, run(direct), this::out);
      assertTrue(out().contains("\"path\": \"DIRECT\""), out());
      bytes.reset();
      assertEquals(2, run("demo", "--path", "fast", file()), this::out);
      assertTrue(out().contains("use direct, proxy or soft"), out());
      bytes.reset();
      machine.set("devx", 0);
      assertEquals(1, run("demo", "--nic", "mlx5_0", "--path", "direct", file()), this::out);
      assertTrue(out().contains("mlx5_0 has no path DIRECT"), out());
    }
  }

  @Test
  void doctorAndInfoSayThatDirectIsThere() {
    try (StandIn machine = StandIn.start()) {
      assertEquals(0, run("doctor", "--path", "direct"), this::out);
      assertTrue(out().contains("DEVX works"), out());
      assertTrue(out().contains("one a queue pair"), out());
      assertTrue(out().contains("host's byte order"), out());
      assertFalse(out().contains("MISSING"), out());
      bytes.reset();
      assertEquals(0, run("info"), this::out);
      assertTrue(out().contains("DIRECT available"), out());
    }
  }

  @Test
  void doctorSaysWhyDirectIsNot() {
    try (StandIn machine = StandIn.start().set("devx", 0)) {
      assertEquals(1, run("doctor", "--path", "direct"), this::out);
      assertTrue(out().contains("DEVX"), out());
      assertTrue(out().contains("DIRECT"), out());
    }
  }
}
