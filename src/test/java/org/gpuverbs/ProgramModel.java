// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.gpuverbs.Program.Op;

/** What one queue pair of a program does, in plain Java. */
final class ProgramModel {
  /** A completion of a receive, or of a request on a full send CQ. */
  record Done(long id, int syndrome, long byteLength, boolean immediate, int value) {}

  /** Sources, then sinks. */
  final byte[] here = new byte[2 * Program.AREA];

  /** Targets, then receives. */
  final byte[] there = new byte[2 * Program.AREA];

  final List<Done> received = new ArrayList<>();
  final List<Done> sent = new ArrayList<>();

  /** The first error's ticket; -1 none. */
  long failed = -1;

  private long next;

  ProgramModel(long seed) {
    new Random(seed).nextBytes(here);
    new Random(~seed).nextBytes(there);
  }

  static int receiveAt(long id) {
    return Program.AREA + (int) (id * Program.RECEIVE % Program.AREA);
  }

  /** Runs a batch; returns the expected ticket. */
  long run(List<Op> ops) {
    long ticket = 0;
    for (Op op : ops) {
      ticket = next;
      next += op.wqebbs();
      if (failed >= 0) {
        sent.add(new Done(ticket, Syndrome.FLUSHED, 0, false, 0));
      } else if (op.kind() == Program.Kind.FORGED) {
        failed = ticket;
        sent.add(new Done(ticket, Syndrome.REMOTE_ACCESS, 0, false, 0));
      } else {
        run(op, ticket);
      }
    }
    return ticket;
  }

  private void run(Op op, long ticket) {
    int length = op.length();
    ByteBuffer near = ByteBuffer.wrap(here).order(ByteOrder.nativeOrder());
    ByteBuffer far = ByteBuffer.wrap(there).order(ByteOrder.nativeOrder());
    long fetched = 0;
    switch (op.kind()) {
      case WRITE, WRITE_IMMEDIATE, WRITE_INLINE ->
          System.arraycopy(here, op.here(), there, op.there(), length);
      case READ -> System.arraycopy(there, op.there(), here, Program.AREA + op.here(), length);
      case SEND, SEND_IMMEDIATE ->
          System.arraycopy(here, op.here(), there, receiveAt(received.size()), length);
      case COMPARE_SWAP -> {
        fetched = far.getLong(op.there());
        near.putLong(Program.AREA + op.here(), fetched);
        if (fetched == compare(op)) {
          far.putLong(op.there(), op.value());
        }
      }
      case FETCH_ADD -> {
        fetched = far.getLong(op.there());
        near.putLong(Program.AREA + op.here(), fetched);
        far.putLong(op.there(), fetched + op.value());
      }
      default -> {}
    }
    if (op.receives()) {
      received.add(
          new Done(
              received.size(),
              0,
              length,
              op.carriesImmediate(),
              op.carriesImmediate() ? (int) op.value() : 0));
    }
    sent.add(new Done(ticket, 0, 0, false, 0));
  }

  /** Half of the swaps should find what they expect; the low bit says which. */
  long compare(Op op) {
    long now = ByteBuffer.wrap(there).order(ByteOrder.nativeOrder()).getLong(op.there());
    return (op.value() & 1) == 0 ? now : ~now;
  }
}
