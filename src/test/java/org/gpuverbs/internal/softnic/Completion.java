// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import org.gpuverbs.internal.wire.Cqe;

/** What a CQE says. */
record Completion(
    int opcode,
    int syndrome,
    int vendor,
    int wqeCounter,
    int qpn,
    int sendOpcode,
    long byteCount,
    int immediate,
    boolean solicited) {

  static Completion read(MemorySegment cq, long offset) {
    int opOwn = Cqe.opOwn(cq, offset);
    boolean error = Cqe.error(opOwn);
    return new Completion(
        Cqe.opcode(opOwn),
        error ? Cqe.syndrome(cq, offset) : 0,
        error ? Cqe.vendorSyndrome(cq, offset) : 0,
        Cqe.wqeCounter(cq, offset),
        Cqe.qpNumber(cq, offset),
        Cqe.sendOpcode(cq, offset),
        Cqe.byteCount(cq, offset),
        Cqe.immediate(cq, offset),
        Cqe.solicited(opOwn));
  }
}
