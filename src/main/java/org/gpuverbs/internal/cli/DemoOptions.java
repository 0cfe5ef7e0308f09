// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.gpuverbs.CpuLanes;
import org.jspecify.annotations.Nullable;

/**
 * What the demo is asked for.
 *
 * @param cpu true for CPU lane threads in any case
 * @param window bytes of each of the two windows
 * @param chunk bytes of a request; 0: by the file's size
 * @param progress true or false if asked for, null by the terminal
 * @param meeting which NIC, and where another process is met
 */
record DemoOptions(
    String file,
    List<DemoPolicy> policies,
    List<Integer> lanes,
    int queuePairs,
    long window,
    long chunk,
    boolean cpu,
    boolean cold,
    boolean json,
    @Nullable Boolean progress,
    Meeting meeting) {
  private static final long KIB = 1 << 10;
  private static final long MIB = 1 << 20;

  /** Two of these and a JVM stay below 800 MB. */
  private static final long MAX_WINDOW = 256 * MIB;

  private static final long DEFAULT_WINDOW = 64 * MIB;
  private static final long MIN_CHUNK = 64;
  private static final long MAX_CHUNK = MIB;

  /** What copies of a short file fill, and the requests that this makes. */
  private static final long FILLED = 4 * MIB;

  private static final long REQUESTS = 8192;

  static final String USAGE =
      """
      usage: demo [options] FILE
             demo --listen [HOST:]PORT [--nic NAME] [--path PATH] [--secret-file FILE]
        Moves FILE from one queue pair to another and back, once under each policy, and checks the SHA-256 at both ends.
        Where there is a GPU its kernels submit, else CPU lane threads, in two numbers. Exit status 0 only if every row is
        verified.

        --policies LIST   all, or some of %s
        --cpu             CPU lane threads, although there is a GPU
        --lanes LIST      numbers of CPU lane threads, such as 1,4 (the default)
        --qps N           queue pairs that share the work, 1..64 (default 4)
        --window BYTES    size of each of the two windows, a power of two up to 256M (default 64M)
        --chunk BYTES     bytes of a request, a power of two in 64..1M (default: by the size, up to 64K)
        --cold            no warm-up before the first row, so that its rates show the JVM's start
        --nic NAME        a NIC of info (default: the software NIC; between processes the first with path DIRECT or PROXY)
        --path PATH       direct, proxy or soft (default: the best that the NIC has)
        --connect [HOST:]PORT   the far end is another process, which runs demo --listen [HOST:]PORT
        --secret-file FILE      both processes prove that they know these bytes; needed between machines
        --json            one JSON object instead of the table
        --progress        the progress bar also where standard error is no terminal; --no-progress: never
      """
          .formatted(DemoPolicy.options());

  static DemoOptions parse(List<String> words) throws UsageException {
    Arguments arguments =
        Arguments.parse(
            words,
            Set.of("--cpu", "--cold", "--json", "--progress", "--no-progress"),
            Set.of(
                "--policies",
                "--lanes",
                "--qps",
                "--window",
                "--chunk",
                "--listen",
                "--connect",
                "--nic",
                "--path",
                "--secret-file"));
    Meeting meeting = Meeting.parse(arguments);
    if (meeting.listen() != null && arguments.rest().isEmpty()) {
      arguments.rest().add("");
    }
    if (arguments.rest().size() != 1) {
      throw new UsageException(
          arguments.rest().isEmpty() ? "name a file to move" : "name one file only");
    }
    if (arguments.has("--progress") && arguments.has("--no-progress")) {
      throw new UsageException("use --progress or --no-progress, not both");
    }
    String policies = arguments.value("--policies");
    String lanes = arguments.value("--lanes");
    return new DemoOptions(
        arguments.rest().getFirst(),
        DemoPolicy.parse(policies == null ? "all" : policies),
        lanes(lanes == null ? "1,4" : lanes),
        arguments.number("--qps", 4, 1, 64),
        arguments.bytes("--window", DEFAULT_WINDOW, 4096, MAX_WINDOW),
        arguments.value("--chunk") == null
            ? 0
            : arguments.bytes("--chunk", 65536, MIN_CHUNK, MAX_CHUNK),
        arguments.has("--cpu") || lanes != null,
        arguments.has("--cold"),
        arguments.has("--json"),
        arguments.has("--progress")
            ? Boolean.TRUE
            : arguments.has("--no-progress") ? Boolean.FALSE : null,
        meeting);
  }

  private static List<Integer> lanes(String text) throws UsageException {
    List<Integer> lanes = new ArrayList<>();
    for (String word : text.split(",", -1)) {
      int each = Arguments.number("--lanes", word, 1, CpuLanes.MAX_LANES);
      if (!lanes.contains(each)) {
        lanes.add(each);
      }
    }
    return lanes;
  }

  /** Bytes of a request, where so many are to be moved. */
  long chunkFor(long bytes) {
    if (chunk != 0) {
      return chunk;
    }
    if (bytes >= DEFAULT_WINDOW) {
      return 64 * KIB;
    }
    return Math.clamp(Long.highestOneBit(Math.max(1, bytes / REQUESTS)), MIN_CHUNK, 64 * KIB);
  }

  /**
   * How many copies of a file are moved side by side: a short one alone would be gone before its
   * rate could be told.
   */
  int copiesFor(long size) {
    return (int) Math.max(1, Math.min(window, FILLED) / Math.max(1, size == 0 ? FILLED : size));
  }
}
