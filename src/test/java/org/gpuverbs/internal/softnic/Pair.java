// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.Arena;
import java.time.Duration;

/** Two connected sides, each on its own NIC. */
final class Pair implements AutoCloseable {
  static final int PSN_A = 0xff_fffe; // wraps at once
  static final int PSN_B = 0x123;

  final Arena arena = Arena.ofShared();
  final SoftNic nicA;
  final SoftNic nicB;
  final Side a;
  final Side b;

  Pair() {
    this(SoftNicConfig.defaults(), false);
  }

  Pair(SoftNicConfig config, boolean full) {
    nicA = SoftNic.open(config);
    nicB = SoftNic.open(config);
    a = new Side(nicA, arena, full);
    b = new Side(nicB, arena, full);
    connect();
  }

  /** Custom sides, not connected. */
  Pair(SoftNicConfig config, int depth, int receiveDepth) {
    nicA = SoftNic.open(config);
    nicB = SoftNic.open(config);
    a = new Side(nicA, arena, depth, receiveDepth, null);
    b = new Side(nicB, arena, depth, receiveDepth, null);
  }

  void connect() {
    connect(a, b);
  }

  static void connect(Side a, Side b) {
    a.qp.connect(new SoftRemote(b.nic.guid(), b.qp.number(), PSN_B, PSN_A));
    b.qp.connect(new SoftRemote(a.nic.guid(), a.qp.number(), PSN_A, PSN_B));
  }

  /** A to B with these patience settings; B as usual. */
  void connect(int retryCount, int rnrRetry, Duration timeout) {
    connectA(retryCount, rnrRetry, timeout);
    b.qp.connect(new SoftRemote(nicA.guid(), a.qp.number(), PSN_A, PSN_B));
  }

  void connectA(int retryCount, int rnrRetry, Duration timeout) {
    a.qp.connect(
        new SoftRemote(nicB.guid(), b.qp.number(), PSN_B, PSN_A, retryCount, rnrRetry, timeout));
  }

  @Override
  public void close() {
    nicA.close();
    nicB.close();
    arena.close();
  }
}
