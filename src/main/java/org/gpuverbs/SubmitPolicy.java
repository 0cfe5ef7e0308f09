// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;

/**
 * How submitters share one send queue: the hand-over, the fence mode and how often the doorbell is
 * rung.
 *
 * <p>No policy wins everywhere. {@link #EXCLUSIVE} is the fastest with one submitter, {@link #TURN}
 * up to some hundred, {@link #BITMAP} above. Whatever the policy, the last request of a batch is
 * always covered by a doorbell.
 *
 * @param handOver how the right to publish is passed on
 * @param fenceMode how far writes are ordered before the doorbell
 * @param doorbellEvery requests between two doorbells: a power of two, 1..1024; 1 rings for each
 *     request or group
 * @param unchecked whether combinations without a proof are allowed; see {@link #unchecked}
 */
public record SubmitPolicy(
    HandOver handOver, FenceMode fenceMode, int doorbellEvery, boolean unchecked) {
  /** {@link HandOver#CLASSIC}, system fences, a doorbell for each group. */
  public static final SubmitPolicy CLASSIC =
      new SubmitPolicy(HandOver.CLASSIC, FenceMode.SYSTEM, 1, false);

  /**
   * {@link HandOver#TURN}, system fences, a doorbell for each group. The default of a queue pair.
   */
  public static final SubmitPolicy TURN =
      new SubmitPolicy(HandOver.TURN, FenceMode.SYSTEM, 1, false);

  /** {@link HandOver#BITMAP}, system fences. */
  public static final SubmitPolicy BITMAP =
      new SubmitPolicy(HandOver.BITMAP, FenceMode.SYSTEM, 1, false);

  /**
   * {@link HandOver#EXCLUSIVE}: one submitter, and no atomics.
   *
   * <p>From Java the queue pair binds to the first initiator that submits to it, and refuses others
   * by name. In a kernel nothing checks, because a check costs what the policy saves: one thread,
   * one warp (the same lanes each time, together) or one block submits, and hands the queue on only
   * by {@code flush()}, a barrier and a new {@code Sender} or {@code resume()}, as {@code
   * gpuverbs/device.h} says. Lanes that call one by one, or two warps, write the same slots.
   * Kernels compiled with {@link Gpu#CHECK} find it: the second submitter gets {@link
   * Status#QP_ERROR}, and the queue pair is in error.
   */
  public static final SubmitPolicy EXCLUSIVE =
      new SubmitPolicy(HandOver.EXCLUSIVE, FenceMode.SYSTEM, 1, false);

  /** The largest {@link #doorbellEvery}. */
  public static final int MAX_DOORBELL_EVERY = 1024;

  /**
   * Checks the components.
   *
   * @throws IllegalArgumentException if {@code doorbellEvery} is not a power of two in 1..1024, or
   *     if the hand-over is an unsound one and {@code unchecked} is false
   */
  public SubmitPolicy {
    Objects.requireNonNull(handOver, "handOver");
    Objects.requireNonNull(fenceMode, "fenceMode");
    if (doorbellEvery < 1
        || doorbellEvery > MAX_DOORBELL_EVERY
        || Integer.bitCount(doorbellEvery) != 1) {
      throw new IllegalArgumentException(
          "doorbellEvery is "
              + doorbellEvery
              + ": take a power of two in 1.."
              + MAX_DOORBELL_EVERY);
    }
    if (!unchecked && !handOver.sound()) {
      throw new IllegalArgumentException(
          handOver + " loses requests: only SubmitPolicy.unchecked(...) makes such a policy");
    }
  }

  /**
   * Any combination, also those that lose requests or doorbells.
   *
   * <p>The counterexample of each unsound combination is in {@code native/ORDERING.md}.
   *
   * @param handOver how the right to publish is passed on
   * @param fenceMode how far writes are ordered before the doorbell
   * @param doorbellEvery requests between two doorbells: a power of two, 1..1024
   * @return the policy, marked as unchecked
   * @throws IllegalArgumentException if {@code doorbellEvery} is out of range
   */
  public static SubmitPolicy unchecked(HandOver handOver, FenceMode fenceMode, int doorbellEvery) {
    return new SubmitPolicy(handOver, fenceMode, doorbellEvery, true);
  }

  /**
   * This policy with another doorbell interval.
   *
   * @param requests a power of two, 1..1024
   * @return the changed copy
   * @throws IllegalArgumentException if {@code requests} is out of range
   */
  public SubmitPolicy doorbellEvery(int requests) {
    return new SubmitPolicy(handOver, fenceMode, requests, unchecked);
  }

  /**
   * This policy with another fence mode.
   *
   * @param mode the fence mode; {@link FenceMode#DEVICE} is refused when a queue pair in host
   *     memory is created
   * @return the changed copy
   */
  public SubmitPolicy fenceMode(FenceMode mode) {
    return new SubmitPolicy(handOver, mode, doorbellEvery, unchecked);
  }

  /**
   * This policy with another hand-over, such as {@code TURN.handOver(HandOver.TURN_LOAD_STORE)}.
   *
   * @param other the hand-over
   * @return the changed copy
   * @throws IllegalArgumentException if {@code other} is an unsound one and this policy is checked
   */
  public SubmitPolicy handOver(HandOver other) {
    return new SubmitPolicy(other, fenceMode, doorbellEvery, unchecked);
  }

  /**
   * Whether exactly one submitter may use the queue.
   *
   * @return true for {@link HandOver#EXCLUSIVE}
   */
  public boolean exclusive() {
    return handOver == HandOver.EXCLUSIVE;
  }

  /** Such as {@code TURN/SYSTEM/every 16}. */
  @Override
  public String toString() {
    return handOver + "/" + fenceMode + "/every " + doorbellEvery + (unchecked ? "/unchecked" : "");
  }
}
