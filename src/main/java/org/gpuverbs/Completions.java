// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;

/**
 * Room for the completions that one {@link CompletionQueue#poll} takes. Reused: each poll
 * overwrites it. One thread at a time.
 */
public final class Completions {
  private static final byte RECEIVE = 1;
  private static final byte IMMEDIATE = 2;

  private final long[] ids;
  private final int[] qpNumbers;
  private final int[] byteLengths;
  private final int[] immediates;
  private final byte[] syndromes;
  private final byte[] kinds;
  private int size;

  /**
   * Makes room.
   *
   * @param capacity the most completions that a poll takes; 1 or more
   * @throws IllegalArgumentException if {@code capacity} is below 1
   */
  public Completions(int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity is " + capacity + ": take 1 or more");
    }
    ids = new long[capacity];
    qpNumbers = new int[capacity];
    byteLengths = new int[capacity];
    immediates = new int[capacity];
    syndromes = new byte[capacity];
    kinds = new byte[capacity];
  }

  void clear() {
    size = 0;
  }

  boolean full() {
    return size == ids.length;
  }

  void addSend(long ticket, int qpNumber, int syndrome, long byteLength) {
    add(ticket, qpNumber, syndrome, byteLength, 0, 0);
  }

  void addReceive(
      long id,
      int qpNumber,
      int syndrome,
      long byteLength,
      int immediate,
      boolean carriesImmediate) {
    add(
        id,
        qpNumber,
        syndrome,
        byteLength,
        immediate,
        carriesImmediate ? RECEIVE | IMMEDIATE : RECEIVE);
  }

  private void add(long id, int qpNumber, int syndrome, long byteLength, int immediate, int kind) {
    ids[size] = id;
    qpNumbers[size] = qpNumber;
    syndromes[size] = (byte) syndrome;
    byteLengths[size] = (int) byteLength;
    immediates[size] = immediate;
    kinds[size] = (byte) kind;
    size++;
  }

  /**
   * The most completions that a poll takes.
   *
   * @return 1 or more
   */
  public int capacity() {
    return ids.length;
  }

  /**
   * How many the last poll took.
   *
   * @return 0..{@link #capacity()}
   */
  public int size() {
    return size;
  }

  /**
   * Which request or receive.
   *
   * @param index 0..{@link #size()}-1
   * @return a receive's id as given to {@link QueuePair#postReceive}, or a request's ticket
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public long id(int index) {
    return ids[Objects.checkIndex(index, size)];
  }

  /**
   * Whose completion.
   *
   * @param index 0..{@link #size()}-1
   * @return the queue pair's {@link QueuePair#number()}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int qpNumber(int index) {
    return qpNumbers[Objects.checkIndex(index, size)];
  }

  /**
   * Whether it succeeded.
   *
   * @param index 0..{@link #size()}-1
   * @return {@link Status#DONE} or {@link Status#QP_ERROR}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public long status(int index) {
    return syndromes[Objects.checkIndex(index, size)] == 0 ? Status.DONE : Status.QP_ERROR;
  }

  /**
   * Why it failed.
   *
   * @param index 0..{@link #size()}-1
   * @return a {@link Syndrome}, or 0 if it succeeded
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int syndrome(int index) {
    return syndromes[Objects.checkIndex(index, size)] & 0xff;
  }

  /**
   * Bytes received, or read or fetched by a request.
   *
   * @param index 0..{@link #size()}-1
   * @return bytes, 0..2<sup>31</sup>; 0 if it failed
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public long byteLength(int index) {
    return Integer.toUnsignedLong(byteLengths[Objects.checkIndex(index, size)]);
  }

  /**
   * Whether it is a receive.
   *
   * @param index 0..{@link #size()}-1
   * @return false for a request of ours
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isReceive(int index) {
    return (kinds[Objects.checkIndex(index, size)] & RECEIVE) != 0;
  }

  /**
   * Whether the peer sent 32 bits along.
   *
   * @param index 0..{@link #size()}-1
   * @return true after {@link WorkRequest.SendImmediate} and {@link WorkRequest.WriteImmediate}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean hasImmediate(int index) {
    return (kinds[Objects.checkIndex(index, size)] & IMMEDIATE) != 0;
  }

  /**
   * The 32 bits that the peer sent along.
   *
   * @param index 0..{@link #size()}-1
   * @return the bits; 0 without {@link #hasImmediate}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int immediate(int index) {
    return immediates[Objects.checkIndex(index, size)];
  }
}
