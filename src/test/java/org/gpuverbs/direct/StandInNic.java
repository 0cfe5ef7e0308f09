// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gpuverbs.CompletionQueue;
import org.gpuverbs.Completions;
import org.gpuverbs.CpuLanes;
import org.gpuverbs.Nic;
import org.gpuverbs.Status;

/** The stand-in's ConnectX, opened, without queue pairs. Its close asserts that nothing is left. */
final class StandInNic implements AutoCloseable {
  final StandIn machine;
  final Nic nic;
  final CpuLanes caller = CpuLanes.caller();

  StandInNic() {
    this(StandIn.start());
  }

  StandInNic(StandIn machine) {
    this.machine = machine;
    nic = Nic.open(Ends.connectX());
  }

  /** Takes completions of requests of one block, from that one on; how many. */
  int take(CompletionQueue queue, Completions into, long from) {
    Ends.await(queue, into);
    for (int i = 0; i < into.size(); i++) {
      assertEquals(Status.DONE, into.status(i));
      assertEquals(from + i, into.id(i));
    }
    return into.size();
  }

  @Override
  public void close() {
    caller.close();
    nic.close();
    StandIn.assertNothingRefused();
    machine.close();
  }
}
