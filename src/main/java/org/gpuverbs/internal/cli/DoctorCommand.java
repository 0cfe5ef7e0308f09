// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.gpuverbs.Availability;
import org.gpuverbs.Doctor;
import org.gpuverbs.Finding;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.jspecify.annotations.Nullable;

/** The doctor command: what hardware paths need, line by line, and how to fix what is missing. */
final class DoctorCommand {
  static final String USAGE =
      """
      usage: doctor [--path direct|proxy|soft] [--json]
        Walks what the hardware paths need and says line by line what is found, what is missing, and how to fix it:
        libraries, RDMA devices and their ports, GID and MTU, the GPU's driver, limits and privileges, distances.
        Exit status 0 if the path can be used on some NIC (without --path: DIRECT or PROXY), else 1.
      """;

  private DoctorCommand() {}

  static int run(List<String> words, PrintStream out) throws UsageException {
    Arguments arguments = Arguments.parse(words, Set.of("--json"), Set.of("--path"));
    if (!arguments.rest().isEmpty()) {
      throw new UsageException("doctor takes no %s".formatted(arguments.rest().getFirst()));
    }
    Path path = path(arguments.value("--path"));
    return print(Doctor.examine(), path, arguments.has("--json"), out);
  }

  /** Null for null. */
  static @Nullable Path path(@Nullable String word) throws UsageException {
    if (word == null) {
      return null;
    }
    for (Path each : Path.values()) {
      if (each.name().equalsIgnoreCase(word)) {
        return each;
      }
    }
    throw new UsageException("--path %s: use direct, proxy or soft".formatted(word));
  }

  static int print(Doctor.Report report, @Nullable Path path, boolean json, PrintStream out) {
    boolean usable =
        path == null
            ? report.usable(Path.DIRECT) || report.usable(Path.PROXY)
            : report.usable(path);
    if (json) {
      out.println(Json.of(json(report, usable)));
    } else {
      text(report, out);
    }
    return usable ? Main.OK : Main.FAILED;
  }

  private static void text(Doctor.Report report, PrintStream out) {
    for (Finding each : report.findings()) {
      String subject = each.subject().isEmpty() ? "" : " of " + each.subject();
      out.printf("%-8s %s%s: %s%n", word(each.verdict()), each.topic(), subject, each.found());
      if (!each.fix().isEmpty()) {
        out.printf("%-8s   fix: %s%n", "", each.fix());
      }
    }
    out.println();
    for (NicInfo nic : report.nics()) {
      for (Path path : Path.values()) {
        Availability availability = nic.path(path);
        out.printf(
            "%s %s: %s%n",
            nic.name(), path, availability.available() ? "available" : availability.reason());
        if (!availability.fix().isEmpty()) {
          out.printf("  to enable: %s%n", availability.fix());
        }
      }
    }
  }

  private static String word(Finding.Verdict verdict) {
    return switch (verdict) {
      case FOUND -> "found";
      case NOTE -> "note";
      case MISSING -> "MISSING";
    };
  }

  private static Map<String, Object> json(Doctor.Report report, boolean usable) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("usable", usable);
    map.put("findings", report.findings().stream().map(DoctorCommand::json).toList());
    Map<String, Object> nics = new LinkedHashMap<>();
    report.nics().forEach(nic -> nics.put(nic.name(), InfoCommand.paths(nic, null)));
    map.put("nics", nics);
    return map;
  }

  private static Map<String, Object> json(Finding finding) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("topic", finding.topic());
    if (!finding.subject().isEmpty()) {
      map.put("subject", finding.subject());
    }
    map.put("verdict", finding.verdict().name().toLowerCase(Locale.ROOT));
    map.put("found", finding.found());
    if (!finding.fix().isEmpty()) {
      map.put("fix", finding.fix());
    }
    return map;
  }
}
