// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairCounters;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * How many requests a measured iteration handed out and how often it rang. The results hold sums;
 * their quotient is doorbells a request.
 */
@AuxCounters(AuxCounters.Type.EVENTS)
@State(Scope.Thread)
public class Counters {
  /** Requests, counted in basic blocks. */
  public long wqes;

  /** Doorbells that submitters rang. */
  public long doorbells;

  /** Each iteration counts afresh. */
  @Setup(Level.Iteration)
  public void clear() {
    wqes = 0;
    doorbells = 0;
  }

  void count(QueuePairCounters from, QueuePair... to) {
    wqes = -from.submitted();
    doorbells = -from.doorbells();
    for (QueuePair qp : to) {
      QueuePairCounters now = qp.counters();
      wqes += now.submitted();
      doorbells += now.doorbells();
    }
  }
}
