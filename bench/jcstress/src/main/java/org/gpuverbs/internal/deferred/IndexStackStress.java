// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZI_Result;

/**
 * One thread takes two and gives the first back, which a naive stack takes for "nothing happened",
 * while another takes one: nobody gets what another holds, and nothing is lost.
 */
@JCStressTest
@Outcome(id = "true, true, 1", expect = Expect.ACCEPTABLE, desc = "each index in one place")
@Outcome(expect = Expect.FORBIDDEN, desc = "an index was lost or is held twice")
@State
public class IndexStackStress {
  private final IndexStack stack = new IndexStack(3);
  private int kept;
  private int taken;

  /** Takes two, gives the first back. */
  @Actor
  public void takesTwo() {
    int first = stack.pop();
    kept = stack.pop();
    stack.push(first);
  }

  /** Takes one. */
  @Actor
  public void takesOne() {
    taken = stack.pop();
  }

  /** What is left. */
  @Arbiter
  public void rest(ZZI_Result r) {
    r.r1 = kept != taken && kept >= 0 && taken >= 0;
    r.r3 = stack.size();
    int last = stack.pop();
    r.r2 = last >= 0 && last != kept && last != taken && stack.pop() < 0;
  }
}
