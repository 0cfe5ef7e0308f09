// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.proxy;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.LinkedHashMap;
import java.util.Map;
import org.gpuverbs.RemoteMemory;
import org.gpuverbs.Syndrome;
import org.gpuverbs.WorkRequest;

/**
 * What the two processes do: near submits, far looks at what arrived. Each half runs in its own
 * process, between two rendezvous.
 */
final class Scenarios {
  /** Half of a scenario. */
  interface Half {
    void run(Link link) throws Exception;
  }

  record Scenario(Half near, Half far) {}

  private static final int HALF = Link.BYTES / 2;
  private static final long COUNTER = Link.BYTES - 64;

  private final Map<String, Scenario> all = new LinkedHashMap<>();

  private Scenarios() {}

  /** Every operation that verbs has. */
  static Map<String, Scenario> operations() {
    Scenarios s = new Scenarios();
    s.add(
        "write of many packets",
        near -> {
          near.fill(1, 0, HALF);
          near.done(new WorkRequest.Write(near.memory.local(0, HALF), near.remote.slice(0, HALF)));
          near.say("written");
        },
        far -> {
          far.say("");
          far.expect(1, 0, HALF);
        });
    s.add(
        "read",
        near -> {
          near.say("");
          near.done(new WorkRequest.Read(near.memory.local(0, 50001), near.remote.slice(7, 50001)));
          near.expect(2, 0, 50001);
        },
        far -> {
          far.fill(2, 7, 50001);
          far.say("filled");
        });
    s.add(
        "write of nothing, and NOP",
        near ->
            near.done(
                new WorkRequest.Nop(),
                new WorkRequest.Write(near.memory.local(0, 0), near.remote.slice(0, 0)),
                new WorkRequest.Nop()),
        far -> {});
    s.add("inline writes around the ring's end", Scenarios::inlineNear, Scenarios::inlineFar);
    s.add(
        "write with immediate",
        near -> {
          near.say("");
          near.fill(3, 0, 9000);
          near.done(
              new WorkRequest.WriteImmediate(
                  near.memory.local(0, 9000), near.remote.slice(100, 9000), 0x01020304));
        },
        far -> {
          far.qp.postReceive(77);
          far.say("posted");
          far.receive();
          Link.equal(77, far.completions.id(0), "id");
          Link.equal(0x01020304, far.completions.immediate(0), "immediate");
          Link.equal(9000, far.completions.byteLength(0), "length");
          far.expect(3, 100, 9000);
        });
    s.add(
        "send and send with immediate",
        near -> {
          near.say("");
          near.fill(4, 0, 5000);
          near.done(
              new WorkRequest.Send(near.memory.local(0, 5000)),
              new WorkRequest.SendImmediate(near.memory.local(0, 16), -5));
        },
        far -> {
          far.qp.postReceive(1, far.memory.local(0, 3000), far.memory.local(3000, 3000));
          far.qp.postReceive(2, far.memory.local(6000, 64));
          far.say("posted");
          far.receiveBoth();
          far.expect(4, 0, 5000);
        });
    s.add(
        "fetch-add and compare-swap",
        near -> {
          RemoteMemory counter = near.remote.slice(COUNTER, 8);
          near.say("");
          for (int i = 0; i < 100; i++) {
            near.done(new WorkRequest.FetchAdd(near.memory.local(0, 8), counter, 3));
            Link.equal(1000 + 3L * i, near.memory.segment().get(JAVA_LONG, 0), "fetched");
          }
          near.done(new WorkRequest.CompareSwap(near.memory.local(0, 8), counter, 1300, 7));
          Link.equal(1300, near.memory.segment().get(JAVA_LONG, 0), "swapped out");
          near.done(new WorkRequest.CompareSwap(near.memory.local(0, 8), counter, 1300, 9));
          Link.equal(7, near.memory.segment().get(JAVA_LONG, 0), "not swapped");
          near.say("");
        },
        far -> {
          far.memory.segment().set(JAVA_LONG, COUNTER, 1000);
          far.say("set");
          far.say("");
          Link.equal(7, far.memory.segment().get(JAVA_LONG, COUNTER), "counter");
        });
    s.add("many batches around the ring", Scenarios::manyNear, Scenarios::manyFar);
    return s.all;
  }

  /** Each ends the queue pair, which is reset and used again. */
  static Map<String, Scenario> errors() {
    Scenarios s = new Scenarios();
    s.failing(
        "a wrong rkey is a remote access error",
        near ->
            near.fails(
                Syndrome.REMOTE_ACCESS,
                new WorkRequest.Write(
                    near.memory.local(0, 64),
                    new RemoteMemory(near.remote.address(), 64, near.remote.rkey() ^ 0x5a5a5a))),
        far -> {});
    s.failing(
        "a message without a receive runs out of retries",
        near -> near.fails(Syndrome.RNR_EXCEEDED, new WorkRequest.Send(near.memory.local(0, 64))),
        far -> {});
    s.failing(
        "what is behind an error is flushed, in order",
        near -> {
          RemoteMemory wrong =
              new RemoteMemory(near.remote.address(), 64, near.remote.rkey() ^ 0x5a5a5a);
          long last =
              near.submit(
                  new WorkRequest.Write(near.memory.local(0, 64), near.remote.slice(0, 64)),
                  new WorkRequest.Write(near.memory.local(0, 64), wrong),
                  new WorkRequest.Nop());
          Link.equal(0, near.qp.poll(last - 2), "before the error");
          Link.equal(Syndrome.REMOTE_ACCESS, near.qp.poll(last - 1), "the error");
          Link.equal(Syndrome.FLUSHED, near.qp.poll(last), "behind the error");
        },
        far -> {});
    return s.all;
  }

  private void add(String name, Half near, Half far) {
    all.put(name, new Scenario(near, far));
  }

  private void failing(String name, Half near, Half far) {
    add(
        name,
        link -> {
          near.run(link);
          link.say("failed");
          link.reset();
          link.done(new WorkRequest.Write(link.memory.local(0, 64), link.remote.slice(0, 64)));
        },
        link -> {
          far.run(link);
          link.say("");
          link.reset();
        });
  }

  /** Sizes on both sides of the device's inline limit. */
  private static int inlineSize(int i) {
    return i % 3 == 0 ? 900 : i % 3 == 1 ? 28 : 450;
  }

  private static void inlineNear(Link near) throws Exception {
    for (int i = 0; i < 60; i++) {
      byte[] bytes = new byte[inlineSize(i)];
      new java.util.Random(100 + i).nextBytes(bytes);
      near.done(new WorkRequest.WriteInline(bytes, near.remote.slice(i * 1000L, bytes.length)));
    }
    near.say("written");
  }

  private static void inlineFar(Link far) {
    far.say("");
    for (int i = 0; i < 60; i++) {
      far.expect(100 + i, i * 1000, inlineSize(i));
    }
  }

  private static void manyNear(Link near) throws Exception {
    near.fill(5, 0, 100 * 16 * 8);
    WorkRequest[] requests = new WorkRequest[16];
    for (int k = 0; k < 100; k++) {
      for (int i = 0; i < 16; i++) {
        long at = (k * 16L + i) * 8;
        requests[i] = new WorkRequest.Write(near.memory.local(at, 8), near.remote.slice(at, 8));
      }
      near.done(requests);
    }
    near.say("written");
  }

  private static void manyFar(Link far) {
    far.say("");
    far.expect(5, 0, 100 * 16 * 8);
  }
}
