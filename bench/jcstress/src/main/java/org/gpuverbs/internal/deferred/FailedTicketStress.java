// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A send fails, and its slot goes on to the next one at once, while its ticket is asked about: it is
 * never taken for delivered.
 */
@JCStressTest
@Outcome(
    id = {"-6, -6", "-6, -32", "-32, -32"},
    expect = Expect.ACCEPTABLE,
    desc = "pending, then failed")
@Outcome(expect = Expect.FORBIDDEN, desc = "a failed send was taken for something else")
@State
public class FailedTicketStress {
  private final FakeSender sender = new FakeSender(1);
  private final FakeOutlet outlet = new FakeOutlet(Status.CLOSED);
  private final FakeStream stream = new FakeStream();
  private final Flow flow = new Flow(new FakePort(outlet));
  private final long ticket;

  /** One send, whose device has failed. */
  public FailedTicketStress() {
    stream.enqueued = 1;
    ticket = sender.send(flow, false, 0, List.of(stream));
    stream.fail();
  }

  /** Asks twice. */
  @Actor
  public void caller(II_Result r) {
    r.r1 = sender.queue.poll(ticket);
    r.r2 = sender.queue.poll(ticket);
  }

  /** Finds the failure, and uses the slot for sends that are delivered. */
  @Actor
  public void worker() {
    sender.queue.work(8);
    for (int i = 0; i < 2; i++) {
      sender.send(flow, false, 1, List.of());
      outlet.completed = outlet.log.size();
      sender.queue.work(8);
    }
  }
}
