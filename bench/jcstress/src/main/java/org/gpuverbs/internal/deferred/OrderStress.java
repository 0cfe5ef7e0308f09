// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * A thread sends three messages in order, of which none, some or all find the queue taken by those
 * who work and send meanwhile.
 */
@JCStressTest
@Outcome(id = "123", expect = Expect.ACCEPTABLE, desc = "in the order of the calls")
@Outcome(expect = Expect.FORBIDDEN, desc = "lost, doubled or out of order")
@State
public class OrderStress {
  private final FakeSender sender = new FakeSender(8);
  private final FakeOutlet outlet = new FakeOutlet(Status.CLOSED);
  private final FakePort port = new FakePort(outlet);
  private final Flow flow = new Flow(port);
  private final Flow another = new Flow(port);
  private final FakeStream stream = new FakeStream();

  /** The first waits for work that is over at the second look. */
  @Actor
  public void caller() {
    stream.enqueued = 1;
    sender.send(flow, true, 1, List.of(stream));
    stream.completed = 1;
    sender.send(flow, true, 2, List.of());
    sender.send(flow, true, 3, List.of());
  }

  /** Is in the way, and works. */
  @Actor
  public void other() {
    sender.send(another, true, 7, List.of());
    sender.queue.work(8);
  }

  /** What came out. */
  @Arbiter
  public void end(L_Result r) {
    sender.work();
    StringBuilder numbers = new StringBuilder();
    outlet.log.stream().filter(number -> number != 7).forEach(numbers::append);
    outlet.completed = outlet.log.size();
    sender.work();
    boolean all = outlet.log.size() == 4 && sender.queue.underWay() == 0;
    r.r1 = all ? numbers.toString() : numbers + " of " + outlet.log;
  }
}
