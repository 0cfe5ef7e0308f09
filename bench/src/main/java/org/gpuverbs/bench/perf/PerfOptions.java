// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.nio.file.Path;
import java.util.List;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.SubmitPolicy;

/**
 * What one run shall do, checked.
 *
 * @param test what is measured
 * @param sizes bytes a message, one row each
 * @param iterations messages a queue pair; not used if {@code seconds} is above 0
 * @param seconds how long each size runs instead
 * @param queuePairs how many
 * @param depth send queue depth, a power of two
 * @param batch messages a submit
 * @param policy how submitters share a queue
 * @param lanes lane threads; 0 for the caller's own
 * @param gpu whose kernels submit, -1 for the CPU
 * @param validate whether payloads are compared
 * @param histogram whether the latency's distribution is printed
 * @param json where the results go, or null
 * @param quiet no progress bar
 */
record PerfOptions(
    PerfTest test,
    List<Integer> sizes,
    long iterations,
    double seconds,
    int queuePairs,
    int depth,
    int batch,
    SubmitPolicy policy,
    int lanes,
    int gpu,
    boolean validate,
    boolean histogram,
    Path json,
    boolean quiet) {
  static final int MAX_QUEUE_PAIRS = 1024;

  PerfOptions {
    require(
        queuePairs >= 1 && queuePairs <= MAX_QUEUE_PAIRS,
        "-q " + queuePairs + ": take 1.." + MAX_QUEUE_PAIRS + " queue pairs");
    require(
        depth >= QueuePairOptions.MIN_DEPTH
            && depth <= QueuePairOptions.MAX_DEPTH
            && Integer.bitCount(depth) == 1,
        "-t "
            + depth
            + ": take a power of two in "
            + QueuePairOptions.MIN_DEPTH
            + ".."
            + QueuePairOptions.MAX_DEPTH);
    require(batch >= 1 && batch <= depth, "-l " + batch + ": take 1.." + depth + ", the depth");
    require(lanes >= 0 && lanes <= 256, "--lanes " + lanes + ": take 0 (the caller) to 256");
    require(iterations >= 1, "-n " + iterations + ": take 1 or more");
    require(seconds >= 0 && seconds <= 3600, "-D " + seconds + ": take up to 3600 seconds");
    require(
        !policy.exclusive() || lanes <= 1,
        "--policy EXCLUSIVE means one submitter: take --lanes 0 or 1, or another policy");
    require(gpu < 0 || lanes == 0, "--lanes are the CPU's: leave it out with --initiator gpu");
    require(
        !test.latency() || queuePairs == 1,
        test.text() + " measures one message at a time: leave out -q");
    require(
        !test.latency() || batch == 1,
        test.text() + " measures one message at a time: leave out -l");
    require(
        !test.atomic() || sizes.equals(List.of(Long.BYTES)),
        test.text() + " moves 8 bytes: leave out -s and -a");
    require(
        test != PerfTest.WRITE_LAT || sizes.stream().allMatch(size -> size >= 1),
        "write_lat polls the message's last byte: take a size of 1 or more");
    require(
        !histogram || test.latency(),
        "-H shows the distribution of latencies: not of " + test.text());
  }

  private static void require(boolean right, String what) {
    if (!right) {
      throw new PerfException(what);
    }
  }

  Plan plan() {
    return new Plan(Plan.VERSION, test, sizes, queuePairs, depth, validate);
  }
}
