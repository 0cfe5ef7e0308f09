// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import org.gpuverbs.Availability;
import org.gpuverbs.Doctor;
import org.gpuverbs.Finding;
import org.gpuverbs.Finding.Verdict;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.junit.jupiter.api.Test;

/** The command's text, JSON and exit status, of a report made here. */
class DoctorCommandTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true);

  private static Doctor.Report report(boolean proxy) {
    Availability availability = proxy ? Availability.yes() : Availability.no("port down", "plug");
    return new Doctor.Report(
        List.of(new NicInfo("rxe0", Map.of(Path.PROXY, availability))),
        List.of(new Finding("port", "rxe0 port 1", Verdict.MISSING, "DOWN", "plug it in")));
  }

  @Test
  void eachFindingIsALineWithItsFix() {
    DoctorCommand.print(report(true), null, false, out);
    assertTrue(bytes.toString().contains("MISSING  port of rxe0 port 1: DOWN"), bytes.toString());
    assertTrue(bytes.toString().contains("fix: plug it in"), bytes.toString());
  }

  @Test
  void aUsablePathMeansStatusZero() {
    assertEquals(0, DoctorCommand.print(report(true), null, false, out));
    assertEquals(0, DoctorCommand.print(report(true), Path.PROXY, false, out));
  }

  @Test
  void noUsablePathMeansStatusOne() {
    assertEquals(1, DoctorCommand.print(report(false), null, false, out));
    assertEquals(1, DoctorCommand.print(report(true), Path.DIRECT, false, out));
  }

  @Test
  void jsonHasFindingsAndNics() {
    DoctorCommand.print(report(false), null, true, out);
    String json = bytes.toString();
    assertTrue(json.contains("\"verdict\": \"missing\""), json);
    assertTrue(json.contains("\"reason\": \"port down\""), json);
    assertTrue(json.contains("\"usable\": false"), json);
  }

  @Test
  void anUnknownPathIsAUsageError() {
    assertEquals(2, Main.run(List.of("doctor", "--path", "fast"), out, out));
  }
}
