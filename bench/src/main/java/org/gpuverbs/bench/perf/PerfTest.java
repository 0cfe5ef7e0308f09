// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.util.Locale;

/** What is measured, by perftest's names. */
public enum PerfTest {
  /** RDMA WRITE, bandwidth. */
  WRITE_BW,
  /** RDMA WRITE there and back; half of it. */
  WRITE_LAT,
  /** RDMA READ, bandwidth. */
  READ_BW,
  /** RDMA READ until its completion. */
  READ_LAT,
  /** SEND, bandwidth. */
  SEND_BW,
  /** SEND there and back; half of it. */
  SEND_LAT,
  /** 64-bit fetch-and-add, rate. */
  ATOMIC_BW,
  /** 64-bit fetch-and-add until its completion. */
  ATOMIC_LAT;

  /** The name that the command line takes. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  boolean latency() {
    return name().endsWith("_LAT");
  }

  boolean send() {
    return this == SEND_BW || this == SEND_LAT;
  }

  boolean write() {
    return this == WRITE_BW || this == WRITE_LAT;
  }

  boolean read() {
    return this == READ_BW || this == READ_LAT;
  }

  boolean atomic() {
    return this == ATOMIC_BW || this == ATOMIC_LAT;
  }

  /** The far side answers each message with one of its own. */
  boolean pingPong() {
    return this == WRITE_LAT || this == SEND_LAT;
  }
}
