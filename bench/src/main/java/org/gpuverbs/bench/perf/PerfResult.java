// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gpuverbs.GpuVerbs;
import org.gpuverbs.bench.Machine;

/**
 * What --json writes, and the report reads.
 *
 * @param tool always perf
 * @param version of the library
 * @param test by perftest's name
 * @param path that the queue pairs took
 * @param mode loopback or client
 * @param queuePairs how many
 * @param depth of the send queue
 * @param batch messages a submit
 * @param policy of the submitters
 * @param initiator cpu or gpu
 * @param lanes lane threads, 0 the caller's
 * @param machine before the run
 * @param rows one a size
 */
record PerfResult(
    String tool,
    String version,
    String test,
    String path,
    String mode,
    int queuePairs,
    int depth,
    int batch,
    String policy,
    String initiator,
    int lanes,
    Machine machine,
    List<Row> rows) {
  static PerfResult of(
      PerfOptions options, Machine machine, String path, InetSocketAddress server, List<Row> rows) {
    return new PerfResult(
        "perf",
        GpuVerbs.version(),
        options.test().text(),
        path,
        server == null ? "loopback" : "client",
        options.queuePairs(),
        options.depth(),
        options.batch(),
        options.policy().toString(),
        options.gpu() < 0 ? "cpu" : "gpu",
        options.lanes(),
        machine,
        rows);
  }

  void write(Path file) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.writeString(
        file, new GsonBuilder().setPrettyPrinting().create().toJson(this) + System.lineSeparator());
  }
}
