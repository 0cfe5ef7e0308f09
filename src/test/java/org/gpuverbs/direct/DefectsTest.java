// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static org.gpuverbs.Finding.Verdict.FOUND;
import static org.gpuverbs.Finding.Verdict.MISSING;
import static org.gpuverbs.Finding.Verdict.NOTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.gpuverbs.Access;
import org.gpuverbs.Availability;
import org.gpuverbs.Doctor;
import org.gpuverbs.Finding;
import org.gpuverbs.Finding.Verdict;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.gpuverbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the doctor and {@link Nic#list} say of the stand-in's machine, whole and with defects. */
@OnStandIn
class DefectsTest {
  private static final int ENOMEM = 12;
  private static final String NIC = "mlx5_0";
  private static final String PORT = "mlx5_0 port 1";

  /** What is wrong, what the doctor says of it, and whether DIRECT is there all the same. */
  private record Defect(
      Map<String, Long> switches,
      String topic,
      String subject,
      Verdict verdict,
      String found,
      boolean direct) {
    @Override
    public String toString() {
      return switches + " -> " + topic + " " + verdict + ": " + found;
    }
  }

  private static Defect missing(String name, long value, String topic, String who, String found) {
    return new Defect(Map.of(name, value), topic, who, MISSING, found, false);
  }

  private static Defect capability(String field, String found) {
    return missing("cap.cmd_hca_cap." + field, 0, "DIRECT", NIC, found);
  }

  static Stream<Defect> defects() {
    return Stream.of(
        missing("devx", 0, "DIRECT", NIC, "no DEVX context"),
        missing("mlx5", 0, "DIRECT", NIC, ""),
        capability("rc", "no reliable connections"),
        capability("cq_oi", "cq_oi"),
        capability("cqe_version", "CQEs of version 0"),
        capability("roce", "RoCE is switched off"),
        missing("port.state", 1, "port", PORT, "DOWN"),
        missing("port.state", 2, "port", PORT, "INIT"),
        missing("gids", 0, "GID", PORT, "empty"),
        missing("gids", 1, "GID", PORT, "RoCE v1 only"),
        missing("uverbs", 1, "RDMA device", "", "no RDMA stack"),
        missing("uverbs", 2, "uverbs", "", "no /dev/infiniband/uverbs"),
        missing("uverbs", 3, "DIRECT", NIC, "can't be opened"),
        new Defect(
            Map.of("port.ethernet", 0L, "port.lid", 0L), "LID", PORT, MISSING, "none", false),
        new Defect(
            Map.of("uar.dedicated", 0L, "uar.nc", 0L, "uar.bf", 0L),
            "DIRECT",
            NIC,
            MISSING,
            "no doorbell register",
            false),
        new Defect(Map.of("gids", 2L), "GID", PORT, NOTE, "this network segment only", true),
        new Defect(Map.of("uar.dedicated", 0L), "UAR", NIC, NOTE, "no dedicated", true),
        new Defect(
            Map.of("uar.dedicated", 0L, "uar.nc", 0L), "UAR", NIC, NOTE, "BlueFlame alone", true),
        new Defect(Map.of("atomics", 0L), "atomics", NIC, NOTE, "none", true),
        new Defect(Map.of("atomics", 2L), "atomics", NIC, NOTE, "network byte order", true));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("defects")
  void aDefectIsNamedWithItsFix(Defect defect) {
    try (StandIn machine = StandIn.start()) {
      defect.switches().forEach(machine::set);
      Doctor.Report report = Doctor.examine();
      Finding finding = find(report, defect.topic(), defect.subject());
      assertEquals(defect.verdict(), finding.verdict(), finding.toString());
      assertTrue(finding.found().contains(defect.found()), finding.toString());
      assertFalse(finding.fix().isBlank(), finding.toString());
      assertEquals(defect.direct(), report.usable(Path.DIRECT), report.toString());
      for (NicInfo nic : report.nics()) {
        Availability direct = nic.path(Path.DIRECT);
        if (!direct.available()) {
          assertFalse(direct.reason().isBlank(), nic.toString());
          assertFalse(direct.fix().isBlank(), nic.toString());
        }
      }
    }
  }

  @Test
  void aWholeMachineMissesNothing() {
    try (StandIn machine = StandIn.start()) {
      Doctor.Report report = Doctor.examine();
      assertEquals(
          List.of(), report.findings().stream().filter(each -> each.verdict() == MISSING).toList());
      for (String topic : List.of("DIRECT", "UAR", "atomics", "dma-buf")) {
        assertEquals(FOUND, find(report, topic, NIC).verdict(), topic);
      }
      assertEquals(FOUND, find(report, "port", PORT).verdict());
      assertTrue(report.usable(Path.DIRECT) && report.usable(Path.PROXY));
      StandIn.assertNothingRefused();
    }
  }

  @Test
  void infinibandIsAsGood() {
    try (StandIn machine = StandIn.start().set("port.ethernet", 0)) {
      Doctor.Report report = Doctor.examine();
      assertEquals("7", find(report, "LID", PORT).found());
      assertTrue(report.usable(Path.DIRECT), report.toString());
    }
  }

  @Test
  void eachOfTwoNicsIsAsked() {
    try (StandIn machine = StandIn.start().set("devices", 2)) {
      List<NicInfo> nics = Doctor.examine().nics();
      assertEquals(List.of("soft0", "mlx5_0", "mlx5_1"), nics.stream().map(NicInfo::name).toList());
      assertTrue(nics.getLast().path(Path.DIRECT).available());
    }
  }

  @Test
  void withoutDevxProxyIsThereAllTheSame() {
    try (StandIn machine = StandIn.start().set("devx", 0)) {
      NicInfo info = Life.info();
      assertTrue(info.path(Path.PROXY).available(), info.toString());
      assertTrue(info.path(Path.DIRECT).reason().contains("DEVX"), info.toString());
      assertTrue(info.path(Path.DIRECT).fix().contains("privileges"), info.toString());
    }
  }

  @Test
  void littleLockedMemoryIsNotedAndThenNamedByWhatNeedsMore() {
    try (StandIn machine = StandIn.start().set("memlock", 65536)) {
      machine
          .files()
          .put("proc/self/limits", "Max locked memory         65536      65536     bytes");
      Finding finding = find(Doctor.examine(), "locked memory", "");
      assertEquals(NOTE, finding.verdict(), finding.toString());
      assertTrue(finding.found().contains("64 KiB"), finding.toString());
      try (Nic nic = Nic.open(Life.info())) {
        RdmaException e =
            assertThrows(
                RdmaException.class, () -> nic.allocate(1 << 20, Access.REMOTE_WRITE).close());
        assertEquals(ENOMEM, e.errno(), e.toString());
        assertTrue(e.getMessage().contains("ulimit -l"), e.toString());
      }
    }
  }

  @Test
  void aPortThatComesUpIsSeenByTheNextLook() {
    try (StandIn machine = StandIn.start().set("port.state", 1)) {
      assertFalse(Life.info().path(Path.DIRECT).available());
      machine.set("port.state", 4);
      assertTrue(Life.info().path(Path.DIRECT).available());
    }
  }

  private static Finding find(Doctor.Report report, String topic, String subject) {
    return report.findings().stream()
        .filter(each -> each.topic().equals(topic) && each.subject().equals(subject))
        .findFirst()
        .orElseThrow(
            () -> new AssertionError("no " + topic + " of '" + subject + "' in " + report));
  }
}
