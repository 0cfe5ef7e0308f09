// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.proxy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import org.gpuverbs.Nic;
import org.gpuverbs.NicInfo;
import org.gpuverbs.PortOptions;
import org.gpuverbs.Rendezvous;
import org.gpuverbs.Syndrome;
import org.gpuverbs.WorkRequest;

/**
 * One of the two processes that test path PROXY. Usage: near|far DEVICE PORT [dying], the last for
 * that scenario alone. The near one prints "ok NAME" or "FAILED NAME: why" for each scenario, and
 * its exit status is 0 if none failed.
 */
public final class ProxyPeer {
  private final boolean near;
  private final String device;
  private final Rendezvous.Peer peer;
  private int failed;

  private ProxyPeer(boolean near, String device, Rendezvous.Peer peer) {
    this.near = near;
    this.device = device;
    this.peer = peer;
  }

  /** See the class. */
  public static void main(String[] args) throws Exception {
    boolean near = args[0].equals("near");
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(args[2]));
    Rendezvous.Options options = Rendezvous.Options.loopback().timeout(Duration.ofSeconds(120));
    int status;
    try (Rendezvous.Peer peer =
        near ? Rendezvous.connect(address, options) : Rendezvous.accept(address, options)) {
      ProxyPeer process = new ProxyPeer(near, args[1], peer);
      status = args.length > 3 ? process.onlyDying() : process.run();
    }
    System.exit(status);
  }

  private Nic open(int mtu) {
    NicInfo info =
        Nic.list().stream().filter(each -> each.name().equals(device)).findFirst().orElseThrow();
    // A VM whose host is busy answers late, which is no reason to give up.
    return Nic.open(info, PortOptions.defaults().withMtu(mtu).withRetries(17, 6, 3, 20));
  }

  private int onlyDying() throws Exception {
    try (Nic nic = open(4096)) {
      dying(nic);
    }
    return failed == 0 ? 0 : 1;
  }

  private int run() throws Exception {
    for (int mtu : new int[] {1024, 4096}) {
      try (Nic nic = open(mtu)) {
        all("MTU " + mtu, nic, false, 64, Scenarios.operations());
        if (mtu == 4096) {
          all("full send CQ", nic, true, 256, Scenarios.operations());
          all("collapsed CQ", nic, false, 64, Scenarios.errors());
          all("full send CQ", nic, true, 64, Scenarios.errors());
          loss("add", "loss", "2%");
          all("2 % of packets lost", nic, false, 64, Scenarios.operations());
          loss("del");
          dying(nic);
        }
      }
    }
    return failed == 0 ? 0 : 1;
  }

  private void all(
      String heading, Nic nic, boolean full, int depth, Map<String, Scenarios.Scenario> scenarios)
      throws Exception {
    try (Link link = new Link(nic, peer, full, depth)) {
      for (var each : scenarios.entrySet()) {
        String why = "";
        try {
          (near ? each.getValue().near() : each.getValue().far()).run(link);
        } catch (Exception | AssertionError e) {
          why = (near ? "near: " : "far: ") + e;
          e.printStackTrace();
        }
        report(heading + ": " + each.getKey(), why, link.say(why));
        if (failed > 0) {
          // The two are out of step.
          System.exit(1);
        }
      }
    }
  }

  private void report(String name, String here, String there) {
    if (here.isEmpty() && there.isEmpty()) {
      if (near) {
        System.out.println("ok " + name);
      }
    } else {
      failed++;
      System.out.println("FAILED " + name + ": " + here + " " + there);
    }
  }

  private void loss(String verb, String... what) throws Exception {
    if (near) {
      for (String interfaceName : new String[] {"v0", "v1"}) {
        java.util.List<String> command =
            new java.util.ArrayList<>(
                java.util.List.of("tc", "qdisc", verb, "dev", interfaceName, "root"));
        if (what.length > 0) {
          command.add("netem");
          command.addAll(java.util.List.of(what));
        }
        if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
          throw new AssertionError(command + " failed");
        }
      }
    }
    peer.exchange(new byte[] {1});
  }

  /** The last one: far ends without a word while near writes to it. */
  private void dying(Nic nic) throws Exception {
    try (Link link = new Link(nic, peer, false, 64)) {
      link.say("");
      if (!near) {
        Runtime.getRuntime().halt(0);
      }
      long status = 0;
      long deadline = System.nanoTime() + Link.PATIENCE.toNanos();
      while (status == 0 && System.nanoTime() - deadline < 0) {
        long ticket =
            link.submit(
                new WorkRequest.Write(
                    link.memory.local(0, 1 << 16), link.remote.slice(0, 1 << 16)));
        status = link.qp.poll(ticket);
      }
      boolean right = status == Syndrome.RETRY_EXCEEDED || status == Syndrome.REMOTE_ACCESS;
      report("a peer that dies ends the queue pair", right ? "" : "status " + status, "");
    }
  }
}
