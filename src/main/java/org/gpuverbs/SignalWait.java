// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.function.LongPredicate;
import org.gpuverbs.internal.queue.Deadline;

/**
 * Waits on the host for a 64-bit word that a peer writes. Any thread; a loop in Java that a virtual
 * thread may run.
 *
 * <p>What the peer wrote before the word, through the same queue pair, is visible after the wait.
 */
public final class SignalWait {
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

  private SignalWait() {}

  /**
   * Waits until the word equals a value.
   *
   * @param region where the word lies
   * @param offset bytes from the region's start; a multiple of 8
   * @param value what to wait for, in the host's byte order
   * @param timeout how long to wait
   * @return the word
   * @throws RdmaException with {@link Status#TIMEOUT} if it is not there in time; queue pairs go on
   * @throws InterruptedException if interrupted
   * @throws IndexOutOfBoundsException if the word is not inside the region
   * @throws IllegalArgumentException if the word is not aligned to 8, or the region is {@link
   *     Ordering#RELAXED}
   * @throws IllegalStateException if the region is closed, before or meanwhile
   */
  public static long untilEqual(MemoryRegion region, long offset, long value, Duration timeout)
      throws InterruptedException {
    return until(region, offset, word -> word == value, timeout, IdleStrategy.backoff());
  }

  /**
   * Waits until the word, read as a signed number, is at least a value: for counters that peers add
   * to.
   *
   * @param region where the word lies
   * @param offset bytes from the region's start; a multiple of 8
   * @param value the least to wait for
   * @param timeout how long to wait
   * @return the word
   * @throws RdmaException as {@link #untilEqual}
   * @throws InterruptedException if interrupted
   * @throws IndexOutOfBoundsException as {@link #untilEqual}
   * @throws IllegalArgumentException as {@link #untilEqual}
   * @throws IllegalStateException as {@link #untilEqual}
   */
  public static long untilAtLeast(MemoryRegion region, long offset, long value, Duration timeout)
      throws InterruptedException {
    return until(region, offset, word -> word >= value, timeout, IdleStrategy.backoff());
  }

  /**
   * Waits until the word passes a test.
   *
   * @param region where the word lies
   * @param offset bytes from the region's start; a multiple of 8
   * @param test whether the wait is over
   * @param timeout how long to wait
   * @param idle what to do between two looks
   * @return the word that passed
   * @throws RdmaException as {@link #untilEqual}
   * @throws InterruptedException if interrupted
   * @throws IndexOutOfBoundsException as {@link #untilEqual}
   * @throws IllegalArgumentException as {@link #untilEqual}
   * @throws IllegalStateException as {@link #untilEqual}
   */
  public static long until(
      MemoryRegion region, long offset, LongPredicate test, Duration timeout, IdleStrategy idle)
      throws InterruptedException {
    if (region.ordering() == Ordering.RELAXED) {
      throw new IllegalArgumentException(
          region
              + " has Ordering.RELAXED, so a word in it may be seen before what was written before"
              + " it: put signals into a region of their own with Ordering.STRICT");
    }
    Objects.checkFromIndexSize(offset, Long.BYTES, region.length());
    if ((region.address() + offset & (Long.BYTES - 1)) != 0) {
      throw new IllegalArgumentException(
          "the word at offset " + offset + " of " + region + " is not aligned to 8 bytes");
    }
    long deadline = Deadline.after(timeout);
    MemorySegment memory = region.segment();
    while (true) {
      region.requireOpen();
      long word = (long) WORD.getAcquire(memory, offset);
      if (test.test(word)) {
        return word;
      }
      if (Deadline.passed(deadline)) {
        throw RdmaException.of(
            "the word at offset " + offset + " of " + region + ", now " + word, Status.TIMEOUT);
      }
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted while waiting for a word of " + region);
      }
      idle.idle(0);
    }
  }
}
