// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.List;

/** A random program: which queue pairs there are, and what is submitted to them in which order. */
record Program(List<Shape> queuePairs, int lanes, List<Step> steps) {
  /** Bytes of each of a queue pair's areas: sources and sinks here, targets and receives there. */
  static final int AREA = 4096;

  /** The longest message into a receive. */
  static final int RECEIVE = 64;

  static final int RECEIVES = 256;
  static final int MAX_OPS = 12;
  static final int MAX_STEPS = 16;
  static final int MAX_SEGMENT = 200;
  static final int MAX_INLINE = 100;

  enum Kind {
    NOP,
    WRITE,
    WRITE_IMMEDIATE,
    WRITE_INLINE,
    READ,
    SEND,
    SEND_IMMEDIATE,
    COMPARE_SWAP,
    FETCH_ADD,
    /** A WRITE with a key that nobody gave: the queue pair goes to ERROR. */
    FORGED
  }

  /** A queue pair. */
  record Shape(HandOver handOver, int doorbellEvery, int depth, boolean fullCq) {}

  /**
   * A request.
   *
   * @param here offset of its first segment in the source or sink area; the others follow
   * @param there offset in the target area
   */
  record Op(Kind kind, int here, List<Integer> lengths, int there, long value) {
    boolean receives() {
      return kind == Kind.SEND || kind == Kind.SEND_IMMEDIATE || kind == Kind.WRITE_IMMEDIATE;
    }

    boolean carriesImmediate() {
      return kind == Kind.SEND_IMMEDIATE || kind == Kind.WRITE_IMMEDIATE;
    }

    int length() {
      return lengths.stream().mapToInt(Integer::intValue).sum();
    }

    /** By the hardware's rules: 16-byte units, four to a basic block. */
    int wqebbs() {
      int segments = (int) lengths.stream().filter(length -> length > 0).count();
      int units =
          switch (kind) {
            case NOP -> 1;
            case SEND, SEND_IMMEDIATE -> 1 + segments;
            case COMPARE_SWAP, FETCH_ADD -> 4;
            case FORGED -> 2 + 2;
            case WRITE_INLINE -> 2 + (length() == 0 ? 0 : (4 + length() + 15) / 16);
            case WRITE, WRITE_IMMEDIATE, READ -> 2 + segments;
          };
      return (units + 3) / 4;
    }
  }

  /** A batch: initiator 0 is the caller's thread, 1 the lane threads. */
  record Step(int queuePair, int initiator, boolean signalEvery, List<Op> ops) {}
}
