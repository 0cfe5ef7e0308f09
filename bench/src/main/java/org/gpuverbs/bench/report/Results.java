// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** All that the given folders hold. One thread. */
final class Results {
  final List<JmhRow> jmh = new ArrayList<>();
  final List<JsonObject> perf = new ArrayList<>();
  final List<GpuRow> gpu = new ArrayList<>();
  final List<String[]> soak = new ArrayList<>();
  final List<String> machines = new ArrayList<>();
  final List<String> commands = new ArrayList<>();
  final List<String> absent = new ArrayList<>();
  final List<String> folders = new ArrayList<>();

  static Results read(List<Path> folders) throws IOException {
    Results results = new Results();
    for (Path folder : folders) {
      if (!Files.isDirectory(folder)) {
        throw new NotDirectoryException(folder + " is not a folder of results");
      }
      results.folders.add(folder.getFileName().toString());
      List<Path> files;
      try (Stream<Path> all = Files.list(folder)) {
        files = all.sorted().toList();
      }
      for (Path file : files) {
        results.add(folder.getFileName().toString(), file);
      }
    }
    if (results.jmh.isEmpty() && results.perf.isEmpty() && results.gpu.isEmpty()) {
      throw new IOException("no results in " + folders + ": run bench/run.sh first");
    }
    return results;
  }

  private void add(String folder, Path file) throws IOException {
    String name = file.getFileName().toString();
    if (name.endsWith(".json")) {
      addJson(folder, file);
    } else if (name.equals("rates.csv")) {
      gpu.addAll(GpuRow.read(file));
      machines.add(folder + ": " + GpuRow.machine(file));
    } else if (name.equals("soak.csv")) {
      for (String line : Files.readAllLines(file)) {
        if (!line.startsWith("#") && line.contains(",")) {
          soak.add(line.split(",", -1));
        }
      }
    } else if (name.equals("commands.txt")) {
      for (String line : Files.readAllLines(file)) {
        commands.add(folder + ": " + line);
      }
    }
  }

  private void addJson(String folder, Path file) throws IOException {
    JsonElement json;
    try {
      json = JsonParser.parseString(Files.readString(file));
    } catch (JsonParseException e) {
      throw new IOException(file + " is not JSON: " + e.getMessage(), e);
    }
    if (json.isJsonArray()) {
      jmh.addAll(JmhRow.all(json.getAsJsonArray()));
    } else if (json.isJsonObject() && json.getAsJsonObject().has("tool")) {
      perf.add(json.getAsJsonObject());
    } else if (json.isJsonObject() && json.getAsJsonObject().has("machine")) {
      JsonObject facts = json.getAsJsonObject();
      machines.add(folder + ": " + describe(facts.getAsJsonObject("machine")));
      facts
          .getAsJsonObject("absent")
          .entrySet()
          .forEach(e -> absent.add(e.getKey() + ": " + e.getValue().getAsString()));
    }
  }

  private static String describe(JsonObject machine) {
    return String.format(
        java.util.Locale.ROOT,
        "%s, %d cores%s, %.0f GiB, %s, %s; load average before the run %.2f; %s",
        machine.get("cpu").getAsString(),
        machine.get("cores").getAsInt(),
        machine.get("virtualised").getAsBoolean() ? " of a virtual machine" : "",
        machine.get("memoryBytes").getAsLong() / (double) (1 << 30),
        machine.get("kernel").getAsString(),
        machine.get("java").getAsString(),
        machine.get("loadAverage").getAsDouble(),
        machine.get("date").getAsString());
  }

  List<JmhRow> suite(String suite) {
    return jmh.stream().filter(row -> row.suite().equals(suite)).toList();
  }
}
