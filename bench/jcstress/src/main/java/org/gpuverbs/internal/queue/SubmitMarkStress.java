// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.queue;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A submitter sets its mark and looks at the gate; whoever closes the gate waits for the mark, then
 * frees. Twice, so that a mark is also taken off and set again while the other waits.
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "never inside what was freed")
@Outcome(expect = Expect.FORBIDDEN, desc = "inside freed memory")
@State
public class SubmitMarkStress {
  private final UseGate gate = new UseGate();
  private final OneThread mark = new OneThread("the submitter");
  private int freed;

  private boolean submit() {
    mark.enter(gate);
    try {
      return gate.open() && freed != 0;
    } finally {
      mark.exit();
    }
  }

  /** Two submits. */
  @Actor
  public void submitter(ZZ_Result r) {
    r.r1 = submit();
    r.r2 = submit();
  }

  /** Closes, waits and frees. */
  @Actor
  public void closer() {
    gate.close();
    if (mark.awaitExit(gate, System.nanoTime() + 10_000_000_000L)) {
      freed = 1;
    }
  }
}
