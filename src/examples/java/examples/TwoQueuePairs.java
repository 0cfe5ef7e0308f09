// SPDX-License-Identifier: Apache-2.0
package examples;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.Status;
import org.gpuverbs.WorkRequest;

/**
 * Two queue pairs in one JVM: one writes a greeting into memory that the other one's side has
 * registered, then reads it back and counts. Throws unless every byte is right.
 */
public final class TwoQueuePairs {
  private static final Duration SECONDS = Duration.ofSeconds(10);
  private static final String GREETING = "hello from the other queue pair";

  private TwoQueuePairs() {}

  /** Takes no arguments. */
  public static void main(String[] args) throws InterruptedException {
    try (Nic nic = Nic.open();
        MemoryRegion mine = nic.allocate(4096, Access.LOCAL_WRITE);
        MemoryRegion theirs =
            nic.allocate(4096, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
        QueuePair here = nic.queuePair(QueuePairOptions.defaults());
        QueuePair there = nic.queuePair(QueuePairOptions.defaults());
        CpuLanes lanes = CpuLanes.start(2)) {
      here.connect(there.address());
      there.connect(here.address());
      System.out.println("path " + here.path());

      mine.segment().setString(0, GREETING);
      int length = GREETING.length() + 1;

      // Requests of one batch run in order: the read sees what the write wrote.
      try (Batch batch =
          Batch.of(
              here,
              new WorkRequest.Write(mine.local(0, length), theirs.remote(0, length)),
              new WorkRequest.Read(mine.local(1024, length), theirs.remote(0, length)),
              new WorkRequest.FetchAdd(mine.local(2048, 8), theirs.remote(2048, 8), 1))) {
        long ticket = lanes.submit(batch);
        check(ticket >= 0, "submit: " + (ticket >= 0 ? "" : Status.describe(ticket)));
        here.await(ticket, SECONDS);
      }

      check(theirs.segment().getString(0).equals(GREETING), "the greeting did not arrive");
      check(mine.segment().getString(1024).equals(GREETING), "the greeting did not come back");
      check(theirs.segment().get(ValueLayout.JAVA_LONG, 2048) == 1, "not counted");
      System.out.println("valid: " + theirs.segment().getString(0));
    }
  }

  private static void check(boolean right, String what) {
    if (!right) {
      throw new IllegalStateException(what);
    }
  }
}
