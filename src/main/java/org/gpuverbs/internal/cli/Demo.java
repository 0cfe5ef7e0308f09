// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.Path;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.jspecify.annotations.Nullable;

/**
 * The demo's work. The file streams through the near window; for each window every row moves it to the far one, checks it there,
 * reads it back and counts. So the disk is read once, however many rows there are.
 */
final class Demo {
  /** The byte that a window is wiped with before it is written to. */
  private static final byte WIPED = (byte) 0xA5;

  private static final int MIN_ADDS = 1024;

  /**
   * Garbage beyond this is collected between windows: on a machine with much memory the JVM would rather let it grow past what is
   * promised of the demo.
   */
  private static final long MAX_HEAP_IN_USE = 96L << 20;

  private final DemoOptions options;
  private final SourceFile file;
  private final Report report;
  private final long chunk;
  private final int passes;
  private final List<DemoRow> rows = new ArrayList<>();

  Demo(DemoOptions options, SourceFile file, Report report) {
    this.options = options;
    this.file = file;
    this.report = report;
    chunk = options.chunkFor(file.size());
    passes = options.passesFor(file.size());
    for (DemoPolicy policy : options.policies()) {
      for (int lanes : options.lanes()) {
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
   * @param path the path that the queue pairs took
   * @param passes how often each row moves the file
   * @param work bytes that all rows together move to the far end
   */
  record Setting(
      NicInfo nic, Path path, long chunk, long window, int queuePairs, int passes, long work) {}

  List<DemoRow> rows() {
    return rows;
  }

  /**
   * Runs all rows.
   *
   * @return the file's SHA-256
   * @throws IOException if the file can't be read or has changed
   */
  byte[] run() throws IOException, InterruptedException {
    long size = file.size();
    long window = Math.clamp(size, 1, options.window());
    try (Nic nic = Nic.open()) {
      Windows windows = new Windows(nic, window);
      report.start(
          new Setting(
              nic.info(), pathOf(nic), chunk, window, options.queuePairs(), passes, size * passes * rows.size()));
      MessageDigest whole = Digests.sha256();
      Plan full = plan(windows, Math.min(window, size));
      for (long at = 0; size - at > window; at += window) {
        hash(whole, windows, at, window);
        moveByAll(nic, windows, full, at, window, null);
        collect();
      }
      long last = size == 0 ? 0 : size - (size - 1) / window * window;
      hash(whole, windows, size - last, last);
      byte[] expected = whole.digest();
      Plan tail = last == window ? full : plan(windows, last);
      moveByAll(nic, windows, tail, size - last, last, expected);
      file.checkUnchanged();
      return expected;
    }
  }

  private static Path pathOf(Nic nic) {
    try (QueuePair any = nic.queuePair(QueuePairOptions.defaults())) {
      return any.path();
    }
  }

  private Plan plan(Windows windows, long length) {
    int adds = (int) Math.clamp(length / chunk, MIN_ADDS, Windows.MAX_ADDS);
    return Plan.of(windows, length, chunk, options.queuePairs(), adds);
  }

  private void hash(MessageDigest whole, Windows windows, long at, long length) throws IOException {
    MemorySegment here = windows.source().segment().asSlice(0, length);
    file.read(at, here);
    Digests.update(whole, here);
  }

  /** Moves a window by every row; `expected` is the file's digest if this window is its last, else null. */
  private void moveByAll(
      Nic nic, Windows windows, Plan plan, long at, long length, byte @Nullable [] expected)
      throws IOException, InterruptedException {
    for (DemoRow row : rows) {
      try (Rig rig =
          new Rig(nic, row.policy().policy(), row.lanes(), options.queuePairs())) {
        for (int pass = 0; pass < passes; pass++) {
          move(rig, windows, plan, row, at, length);
          if (expected != null) {
            row.endOfPass(expected);
          }
        }
        row.spent(rig);
      }
      if (expected != null) {
        report.finished(row);
      }
    }
  }

  private void move(Rig rig, Windows windows, Plan plan, DemoRow row, long at, long length)
      throws IOException, InterruptedException {
    MemorySegment here = windows.source().segment().asSlice(0, length);
    MemorySegment there = windows.target().segment().asSlice(0, length);
    // Read anew, since the near window was read back to: a row that failed must not make the next one fail.
    file.read(at, here);
    there.fill(WIPED);
    rig.run(plan.writes());
    row.arrived(there);

    here.fill(WIPED);
    rig.run(plan.reads());
    row.cameBack(here);

    MemorySegment counter = windows.counter().segment();
    counter.set(ValueLayout.JAVA_LONG, 0, 0);
    windows.fetched().segment().fill(WIPED);
    rig.run(plan.adds());
    row.counted(
        counter.get(ValueLayout.JAVA_LONG, 0), windows.fetched().segment(), plan.adds().requests());
    report.moved(length, row);
  }

  private static void collect() {
    Runtime runtime = Runtime.getRuntime();
    if (runtime.totalMemory() - runtime.freeMemory() > MAX_HEAP_IN_USE) {
      System.gc();
    }
  }
}
