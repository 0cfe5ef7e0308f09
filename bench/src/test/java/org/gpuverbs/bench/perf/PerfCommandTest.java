// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

@Timeout(180)
class PerfCommandTest {
  @TempDir Path folder;

  private final StringWriter err = new StringWriter();

  private int run(String... words) {
    CommandLine command = new CommandLine(new PerfCommand());
    command.setCaseInsensitiveEnumValuesAllowed(true);
    command.setErr(new PrintWriter(err));
    return command.execute(words);
  }

  @ParameterizedTest
  @EnumSource(PerfTest.class)
  void eachTestVerifiesWhatItMoved(PerfTest test) throws IOException {
    Path json = folder.resolve("result.json");
    assertEquals(
        0, run(test.text(), "-n", "40", "--warm-up", "0", "--validate", "--json", json.toString()));
    JsonObject result = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
    JsonObject row = result.getAsJsonArray("rows").get(0).getAsJsonObject();
    assertEquals(test.text(), result.get("test").getAsString());
    assertEquals(40, row.get("iterations").getAsInt());
    assertEquals("yes", row.get("verified").getAsString());
  }

  @Test
  void manyQueuePairsAndLanesMoveWhatWasAskedFor() throws IOException {
    Path json = folder.resolve("result.json");
    assertEquals(
        0,
        run(
            "send_bw",
            "-q",
            "5",
            "-n",
            "50",
            "-l",
            "16",
            "--lanes",
            "2",
            "-s",
            "1K",
            "--policy",
            "bitmap",
            "--warm-up",
            "0",
            "--validate",
            "--json",
            json.toString()));
    JsonObject result = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
    assertEquals(
        250, result.getAsJsonArray("rows").get(0).getAsJsonObject().get("iterations").getAsInt());
  }

  @Test
  void clientAndServerMeetOverTcpWithinAProcess() throws Exception {
    int port;
    try (ServerSocket probe = new ServerSocket(0)) {
      port = probe.getLocalPort();
    }
    CompletableFuture<Integer> server =
        CompletableFuture.supplyAsync(
            () ->
                new CommandLine(new PerfCommand())
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .execute("write_lat", "--server", "-p", Integer.toString(port)));
    assertEquals(
        0, run("write_lat", "127.0.0.1:" + port, "-n", "20", "--warm-up", "0", "--validate"));
    assertEquals(0, server.get(60, TimeUnit.SECONDS));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "write_bw -s 8X|'8X' is not a size",
        "write_bw -s 0|take 1 to 1G",
        "write_bw -t 100|take a power of two",
        "write_bw -l 2000|take 1..1024",
        "write_bw -n 5 -D 1|-n and -D: give one of them",
        "write_bw -a -s 4|-s and -a: give one of them",
        "atomic_bw -s 64|moves 8 bytes",
        "write_lat -q 2|leave out -q",
        "write_bw -H|not of write_bw",
        "write_bw --policy EXCLUSIVE --lanes 4|one submitter",
        "write_bw --doorbell-every 3|power of two",
        "write_bw --initiator fpga|take cpu or gpu",
        "write_bw --server somewhere|give one of them",
        "write_bw nowhere.invalid|unknown",
        "write_bw localhost:99999|take 1..65535",
        "write_bw 127.0.0.1 --secret-file /nonexistent|there is no such file",
        "write_bw -D 99999|up to 3600",
        "write_bw --warm-up -1|take 0 to 60",
      })
  void aWrongCommandLineIsNamed(String line, String says) {
    assertEquals(2, run(line.split(" ")));
    assertTrue(err.toString().contains(says), err::toString);
  }

  @Test
  void allSizesGoFromTwoBytesToEightMebibytes() {
    List<Integer> sizes = Sizes.all();
    assertEquals(2, sizes.getFirst());
    assertEquals(8 << 20, sizes.getLast());
    assertEquals(23, sizes.size());
  }
}
