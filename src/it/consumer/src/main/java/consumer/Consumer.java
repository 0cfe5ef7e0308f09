// SPDX-License-Identifier: Apache-2.0
package consumer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.gpuverbs.Access;
import org.gpuverbs.Batch;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.GpuVerbs;
import org.gpuverbs.Initiator;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RdmaException;
import org.gpuverbs.WorkRequest;

/** Uses gpuverbs as its users do, and fails unless every byte arrives. */
public final class Consumer {
  private static final int BYTES = 64 * 1024;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private Consumer() {}

  /** Takes {@code named} or {@code unnamed}: the kind of module that gpuverbs must be in. */
  public static void main(String[] args) throws InterruptedException {
    Module module = GpuVerbs.class.getModule();
    check(module.isNamed() == args[0].equals("named"), "gpuverbs is in " + module);

    Nic nic = Nic.open();
    QueuePair near = nic.queuePair(QueuePairOptions.defaults());
    QueuePair far = nic.queuePair(QueuePairOptions.defaults());
    near.connect(far.address());
    far.connect(near.address());
    MemoryRegion source = nic.allocate(BYTES, Access.LOCAL_WRITE);
    MemoryRegion target = nic.allocate(BYTES, Access.REMOTE_WRITE, Access.REMOTE_READ);
    MemoryRegion copy = nic.allocate(BYTES, Access.LOCAL_WRITE);
    for (int i = 0; i < BYTES; i++) {
      source.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + 7));
    }

    run(CpuLanes.caller(), near, new WorkRequest.Write(source.local(), target.remote()));
    check(
        source.segment().mismatch(target.segment()) == -1, "what was written is not what arrived");
    run(CpuLanes.start(2), near, new WorkRequest.Read(copy.local(), target.remote()));
    check(source.segment().mismatch(copy.segment()) == -1, "what was read is not what was written");

    MemorySegment kept = source.segment();
    nic.close();
    nic.close();
    check(throwsOnUse(nic), "a closed NIC made a queue pair");
    check(!kept.scope().isAlive(), "closing the NIC left its memory open");
    System.out.println("consumer: " + BYTES + " bytes written and read back, in " + module);
  }

  private static void run(Initiator initiator, QueuePair queuePair, WorkRequest request)
      throws InterruptedException {
    try (initiator;
        Batch batch = Batch.of(queuePair, request)) {
      initiator.await(initiator.submit(batch), TIMEOUT);
    }
  }

  private static boolean throwsOnUse(Nic nic) {
    try {
      nic.queuePair(QueuePairOptions.defaults());
      return false;
    } catch (IllegalStateException | RdmaException e) {
      return true;
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
