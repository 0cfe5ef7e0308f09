// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** A queue pair as the stand-in's firmware has it: the words of standin.h, in their order. */
record DevxQueue(
    int number,
    int state,
    int device,
    long ring,
    int depth,
    long receiveRing,
    int receiveDepth,
    int receiveStride,
    long dbr,
    long doorbell,
    int uarKind,
    int uarUsers,
    int sendCq,
    int receiveCq,
    int remoteNumber,
    int remoteDevice,
    int sendPsn,
    int receivePsn,
    int retries,
    int rnrRetries,
    int timeout,
    int minRnr,
    int mtu,
    int access,
    int logReads,
    int logTargetReads,
    int port,
    int pkey,
    int gidIndex,
    int hopLimit,
    int trafficClass,
    int serviceLevel,
    int remoteLid,
    int grh,
    long remoteGidHigh,
    long remoteGidLow,
    long remoteMac,
    int atomicMode) {
  static final int WORDS = 38;

  static final int RESET = 0;
  static final int INIT = 1;
  static final int RTR = 2;
  static final int RTS = 3;
  static final int ERROR = 6;

  static final int UAR_BLUEFLAME = 0;
  static final int UAR_NONCACHED = 1;
  static final int UAR_DEDICATED = 2;

  static DevxQueue of(MemorySegment words) {
    Reader r = new Reader(words);
    return new DevxQueue(
        r.word(), r.word(), r.word(), r.wide(), r.word(), r.wide(), r.word(), r.word(), r.wide(),
        r.wide(), r.word(), r.word(), r.word(), r.word(), r.word(), r.word(), r.word(), r.word(),
        r.word(), r.word(), r.word(), r.word(), r.word(), r.word(), r.word(), r.word(), r.word(),
        r.word(), r.word(), r.word(), r.word(), r.word(), r.word(), r.word(), r.wide(), r.wide(),
        r.wide(), r.word());
  }

  private static final class Reader {
    private final MemorySegment words;
    private int at;

    Reader(MemorySegment words) {
      this.words = words;
    }

    long wide() {
      return words.getAtIndex(JAVA_LONG, at++);
    }

    int word() {
      return Math.toIntExact(wide());
    }
  }
}
