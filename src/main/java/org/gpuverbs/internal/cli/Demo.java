// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.PathDetails;
import org.gpuverbs.QueuePair;
import org.jspecify.annotations.Nullable;

/**
 * The demo's work. The file streams through the near window; for each window every row moves it to
 * the far one, checks it there, reads it back and counts. So the disk is read once, however many
 * rows there are.
 */
final class Demo {
  private static final int MIN_ADDS = 1024;

  /** The JIT compiler's time: without it the first rows would look slow, whatever their policy. */
  private static final long WARM_UP_NANOS = 700_000_000;

  private static final long WARM_UP_BYTES = 1 << 20;

  /**
   * Garbage beyond this is collected between windows: on a machine with much memory the JVM would
   * rather let it grow past what is promised of the demo.
   */
  private static final long MAX_HEAP_IN_USE = 96L << 20;

  private final DemoOptions options;
  private final SourceFile file;
  private final Report report;
  private final Consumer<MemorySegment> tamper;
  private final long chunk;
  private final int copies;
  private final long bytes;
  private final List<DemoRow> rows = new ArrayList<>();
  private final DemoInitiator initiator;

  Demo(DemoOptions options, SourceFile file, Report report) {
    this(options, file, report, window -> {});
  }

  /** For tests: `tamper` is given the far window after each WRITE, and may spoil it. */
  Demo(DemoOptions options, SourceFile file, Report report, Consumer<MemorySegment> tamper) {
    this.tamper = tamper;
    this.options = options;
    this.file = file;
    this.report = report;
    copies = options.copiesFor(file.size());
    bytes = file.size() * copies;
    chunk = options.chunkFor(bytes);
    initiator = DemoInitiator.choose(options.cpu());
    for (DemoPolicy policy : options.policies()) {
      for (int lanes : initiator.gpu() ? List.of(DemoRow.GPU) : options.lanes()) {
        rows.add(new DemoRow(policy, lanes));
      }
    }
  }

  /** Told what happens, as it happens. */
  interface Report {
    void start(Setting setting);

    void moved(long bytes, DemoRow row);

    void finished(DemoRow row);
  }

  /**
   * What all rows have in common.
   *
   * @param initiator who submits, and why not a better one
   * @param details the path that the queue pairs took, and how
   * @param copies how many copies of the file lie side by side
   * @param work bytes that all rows together move to the far end
   */
  record Setting(
      NicInfo nic,
      String initiator,
      PathDetails details,
      long chunk,
      long window,
      int queuePairs,
      int copies,
      long work) {}

  List<DemoRow> rows() {
    return rows;
  }

  /**
   * Runs all rows.
   *
   * @return the file's SHA-256
   * @throws IOException if the file can't be read or has changed
   */
  byte[] run() throws IOException, InterruptedException, UsageException {
    long window = Math.clamp(bytes, 1, options.window());
    try (initiator;
        Nic nic = options.meeting().open();
        FarEnd far = farEnd(nic, window)) {
      return run(nic, far, window);
    }
  }

  private FarEnd farEnd(Nic nic, long window) throws IOException, UsageException {
    InetSocketAddress address = options.meeting().connect();
    return address == null
        ? new LocalFarEnd(nic, window, tamper)
        : options.meeting().farEnd(address, window);
  }

  private byte[] run(Nic nic, FarEnd far, long window) throws IOException, InterruptedException {
    Windows windows = new Windows(nic, window);
    report.start(
        new Setting(
            nic.info(),
            initiator.toString(),
            detailsOf(nic),
            chunk,
            window,
            options.queuePairs(),
            copies,
            bytes * rows.size()));
    if (!options.cold()) {
      warmUp(nic, far, windows, Math.min(Math.min(window, bytes), WARM_UP_BYTES));
    }
    MessageDigest all = Digests.sha256();
    Plan full = plan(windows, far, Math.min(window, bytes));
    long at = 0;
    for (; bytes - at > window; at += window) {
      Digests.update(all, read(windows, at, window));
      moveByAll(nic, far, windows, full, at, window, null);
      collect();
    }
    long rest = bytes - at;
    MemorySegment last = read(windows, at, rest);
    Digests.update(all, last);
    byte[] moved = all.digest();
    byte[] once = copies == 1 ? moved : Digests.of(last.asSlice(0, file.size()));
    moveByAll(nic, far, windows, rest == window ? full : plan(windows, far, rest), at, rest, moved);
    file.checkUnchanged();
    return once;
  }

  private void warmUp(Nic nic, FarEnd far, Windows windows, long length)
      throws IOException, InterruptedException {
    Plan plan = plan(windows, far, length);
    long end = System.nanoTime() + WARM_UP_NANOS;
    for (int i = 0; System.nanoTime() < end; i++) {
      DemoRow row = rows.get(i % rows.size());
      DemoRow discarded = new DemoRow(row.policy(), row.lanes());
      try (Rig rig = rig(nic, far, row)) {
        move(rig, far, windows, plan, discarded, 0, length);
      }
    }
  }

  private Rig rig(Nic nic, FarEnd far, DemoRow row) {
    return initiator.rig(nic, far, row.policy().policy(), row.lanes(), options.queuePairs());
  }

  private PathDetails detailsOf(Nic nic) {
    try (QueuePair any = nic.queuePair(initiator.options().build())) {
      return any.details();
    }
  }

  private Plan plan(Windows windows, FarEnd far, long length) {
    int adds = (int) Math.clamp(length / chunk, MIN_ADDS, Windows.MAX_ADDS);
    return Plan.of(windows, far, length, chunk, options.queuePairs(), adds);
  }

  /** Fills the near window; returns the part in use. */
  private MemorySegment read(Windows windows, long at, long length) throws IOException {
    MemorySegment here = windows.source().segment().asSlice(0, length);
    file.read(at, here);
    return here;
  }

  /**
   * Moves a window by every row; `expected` is the digest of all bytes if this window is the last,
   * else null.
   */
  private void moveByAll(
      Nic nic,
      FarEnd far,
      Windows windows,
      Plan plan,
      long at,
      long length,
      byte @Nullable [] expected)
      throws IOException, InterruptedException {
    for (DemoRow row : rows) {
      try (Rig rig = rig(nic, far, row)) {
        move(rig, far, windows, plan, row, at, length);
        row.spent(rig);
      }
      report.moved(length, row);
      if (expected != null) {
        row.endOfFile(expected);
        report.finished(row);
      }
    }
  }

  private void move(
      Rig rig, FarEnd far, Windows windows, Plan plan, DemoRow row, long at, long length)
      throws IOException, InterruptedException {
    // Read anew, since the near window was read back to: a row that failed must not make the next
    // one fail.
    MemorySegment here = read(windows, at, length);
    far.wipe(length);
    rig.run(plan.writes());
    far.arrived(row, here);

    here.fill(Windows.WIPED);
    rig.run(plan.reads());
    row.cameBack(here);

    far.zero();
    windows.fetched().segment().fill(Windows.WIPED);
    rig.run(plan.adds());
    row.counted(far.count(), windows.fetched().segment(), plan.adds().requests());
  }

  private static void collect() {
    Runtime runtime = Runtime.getRuntime();
    if (runtime.totalMemory() - runtime.freeMemory() > MAX_HEAP_IN_USE) {
      System.gc();
    }
  }
}
