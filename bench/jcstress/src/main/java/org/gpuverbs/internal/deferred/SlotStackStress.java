// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Two threads push and one of them takes all: nothing is lost, and each thread's order is kept. */
@JCStressTest
@Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "all three, a before b")
@Outcome(expect = Expect.FORBIDDEN, desc = "lost, doubled or out of order")
@State
public class SlotStackStress {
  private final SlotStack stack = new SlotStack(SlotStack.Kind.INCOMING);
  private final NumberedSlot a = new NumberedSlot(0);
  private final NumberedSlot b = new NumberedSlot(1);
  private final NumberedSlot c = new NumberedSlot(2);
  private final StringBuilder got = new StringBuilder();

  /** Pushes two. */
  @Actor
  public void one() {
    stack.push(a);
    stack.push(b);
  }

  /** Pushes one, and takes what is there. */
  @Actor
  public void other() {
    stack.push(c);
    take();
  }

  private void take() {
    for (Slot slot = stack.takeAll(); slot != null; slot = stack.after(slot)) {
      got.append((char) ('a' + slot.index));
    }
  }

  /** Takes the rest. */
  @Arbiter
  public void rest(ZZ_Result r) {
    take();
    String all = got.toString();
    r.r1 = all.length() == 3 && all.indexOf('c') >= 0;
    r.r2 = all.indexOf('a') >= 0 && all.indexOf('a') < all.indexOf('b');
  }
}
