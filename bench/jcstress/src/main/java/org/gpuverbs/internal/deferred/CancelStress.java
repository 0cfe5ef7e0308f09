// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZII_Result;

/** A send is cancelled while a pass releases it: one of the two happens, and both know which. */
@JCStressTest
@Outcome(id = "true, 0, -33", expect = Expect.ACCEPTABLE, desc = "cancelled")
@Outcome(id = "false, 1, 0", expect = Expect.ACCEPTABLE, desc = "released and delivered")
@Outcome(expect = Expect.FORBIDDEN, desc = "both or neither")
@State
public class CancelStress {
  private final FakeSender sender = new FakeSender(2);
  private final FakeOutlet outlet = new FakeOutlet(Status.CLOSED);
  private final FakeStream stream = new FakeStream();
  private final long ticket;

  private boolean cancelled;

  /** One send, whose work is over and has not been looked at. */
  public CancelStress() {
    stream.enqueued = 1;
    ticket = sender.send(new Flow(new FakePort(outlet)), true, 0, List.of(stream));
    stream.completed = 1;
  }

  /** Cancels. */
  @Actor
  public void caller() {
    cancelled = sender.queue.cancel(ticket);
  }

  /** Releases. */
  @Actor
  public void worker() {
    sender.queue.work(8);
  }

  /** What came of it. */
  @Arbiter
  public void end(ZII_Result r) {
    sender.work();
    r.r1 = cancelled;
    r.r2 = outlet.log.size();
    outlet.completed = outlet.log.size();
    sender.work();
    r.r3 = sender.queue.underWay() == 0 ? sender.queue.poll(ticket) : Integer.MIN_VALUE;
  }
}
