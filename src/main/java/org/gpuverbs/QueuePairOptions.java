// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import java.util.Objects;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.WqeSize;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair shall be like. Immutable.
 *
 * <pre>{@code
 * QueuePairOptions options =
 *     QueuePairOptions.builder().depth(4096).policy(SubmitPolicy.CLASSIC.doorbellEvery(16)).build();
 * }</pre>
 */
public final class QueuePairOptions {
  /** The smallest {@link #depth}. */
  public static final int MIN_DEPTH = 64;

  /** The largest {@link #depth} and {@link #receiveDepth}. */
  public static final int MAX_DEPTH = 16384;

  /** The largest {@link #maxInline}: what fits in the largest WQE. */
  public static final int MAX_INLINE = WqeSize.MAX_INLINE;

  private final @Nullable Path path;
  private final int depth;
  private final int receiveDepth;
  private final int maxInline;
  private final SubmitPolicy policy;
  private final Placement placement;
  private final Ringer ringer;
  private final @Nullable Gpu gpu;
  private final @Nullable CompletionQueue sendQueue;
  private final @Nullable CompletionQueue receiveQueue;
  private final Duration closeTimeout;
  private final Duration submitTimeout;

  private QueuePairOptions(Builder b) {
    path = b.path;
    depth = b.depth;
    receiveDepth = b.receiveDepth;
    maxInline = b.maxInline;
    policy = b.policy;
    placement = b.placement;
    ringer = b.ringer;
    gpu = b.gpu;
    sendQueue = b.sendQueue;
    receiveQueue = b.receiveQueue;
    closeTimeout = b.closeTimeout;
    submitTimeout = b.submitTimeout;
  }

  /**
   * All defaults: depth 1024, no receive queue, 220 inline bytes, {@link SubmitPolicy#TURN}, host
   * memory, a collapsed send CQ.
   *
   * @return the options
   */
  public static QueuePairOptions defaults() {
    return builder().build();
  }

  /**
   * Starts from the defaults.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * The path asked for.
   *
   * @return the path, or null for the NIC's best
   */
  public @Nullable Path path() {
    return path;
  }

  /**
   * The send queue's length.
   *
   * @return basic blocks of 64 bytes; most requests take one
   */
  public int depth() {
    return depth;
  }

  /**
   * The receive queue's length.
   *
   * @return receives; 0 for no receive queue
   */
  public int receiveDepth() {
    return receiveDepth;
  }

  /**
   * The most bytes of a {@link WorkRequest.WriteInline}.
   *
   * @return bytes, 0..{@link #MAX_INLINE}
   */
  public int maxInline() {
    return maxInline;
  }

  /**
   * How submitters share the send queue.
   *
   * @return the policy
   */
  public SubmitPolicy policy() {
    return policy;
  }

  /**
   * Where the queue lies.
   *
   * @return the placement
   */
  public Placement placement() {
    return placement;
  }

  /**
   * Who rings the NIC's doorbell register, with path DIRECT.
   *
   * @return the ringer asked for
   */
  public Ringer ringer() {
    return ringer;
  }

  /**
   * The GPU whose kernels submit.
   *
   * @return the GPU, or null for CPU lanes
   */
  public @Nullable Gpu gpu() {
    return gpu;
  }

  /**
   * Where every request's completion goes.
   *
   * @return the queue, or null for a collapsed send CQ that only {@link QueuePair#poll} reads
   */
  public @Nullable CompletionQueue sendQueue() {
    return sendQueue;
  }

  /**
   * Where receives complete.
   *
   * @return the queue, or null without a receive queue
   */
  public @Nullable CompletionQueue receiveQueue() {
    return receiveQueue;
  }

  /**
   * How long {@link QueuePair#close} waits for those who still use the queue.
   *
   * @return the timeout
   */
  public Duration closeTimeout() {
    return closeTimeout;
  }

  /**
   * How long a submitter waits for its turn before it sets the queue pair's ERROR.
   *
   * @return the timeout
   */
  public Duration submitTimeout() {
    return submitTimeout;
  }

  /** Collects options. Not thread-safe. */
  public static final class Builder {
    private @Nullable Path path;
    private int depth = 1024;
    private int receiveDepth;
    private int maxInline = 220;
    private SubmitPolicy policy = SubmitPolicy.TURN;
    private Placement placement = Placement.HOST;
    private Ringer ringer = Ringer.SUBMITTER;
    private @Nullable Gpu gpu;
    private @Nullable CompletionQueue sendQueue;
    private @Nullable CompletionQueue receiveQueue;
    private Duration closeTimeout = Duration.ofSeconds(5);
    private Duration submitTimeout = Duration.ofSeconds(10);

    private Builder() {}

    /**
     * Asks for a path; by default the best that the NIC has.
     *
     * @param path the path
     * @return this
     */
    public Builder path(Path path) {
      this.path = Objects.requireNonNull(path, "path");
      return this;
    }

    /**
     * Sets the send queue's length.
     *
     * @param wqebbs basic blocks: a power of two, {@link #MIN_DEPTH}..{@link #MAX_DEPTH}
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public Builder depth(int wqebbs) {
      this.depth = powerOfTwo("depth", wqebbs, MIN_DEPTH);
      return this;
    }

    /**
     * Sets the receive queue's length; {@link #receiveQueue} must be given too.
     *
     * @param receives 0, or a power of two up to {@link #MAX_DEPTH}
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public Builder receiveDepth(int receives) {
      this.receiveDepth = receives == 0 ? 0 : powerOfTwo("receiveDepth", receives, 1);
      return this;
    }

    /**
     * Sets the most bytes of an inline write.
     *
     * @param bytes 0..{@link #MAX_INLINE}
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public Builder maxInline(int bytes) {
      if (bytes < 0 || bytes > MAX_INLINE) {
        throw new IllegalArgumentException(
            "maxInline is " + bytes + ": take 0.." + MAX_INLINE + " bytes");
      }
      this.maxInline = bytes;
      return this;
    }

    /**
     * Sets how submitters share the send queue.
     *
     * @param policy the policy
     * @return this
     */
    public Builder policy(SubmitPolicy policy) {
      this.policy = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Sets where the queue lies.
     *
     * @param placement the placement
     * @return this
     */
    public Builder placement(Placement placement) {
      this.placement = Objects.requireNonNull(placement, "placement");
      return this;
    }

    /**
     * Sets who rings, with path DIRECT. Where the submitter is a GPU that can't have the register,
     * {@link Ringer#CPU_THREAD} is taken whatever is asked for; {@link QueuePair#details} tells.
     *
     * @param ringer {@link Ringer#SUBMITTER} by default
     * @return this
     */
    public Builder ringer(Ringer ringer) {
      this.ringer = Objects.requireNonNull(ringer, "ringer");
      return this;
    }

    /**
     * Makes it a queue pair of a GPU: its kernels submit, through a {@link GpuStream} or with
     * {@link QueuePair#deviceHandle}, and no CPU lanes. It lives in that GPU's context alone.
     *
     * @param gpu the GPU, to be closed after the queue pair
     * @return this
     */
    public Builder gpu(Gpu gpu) {
      this.gpu = Objects.requireNonNull(gpu, "gpu");
      return this;
    }

    /**
     * Asks for a full send CQ: every request completes there, and whoever polls it gives the
     * submitters room again. Without it the send CQ is collapsed, and submitters find room
     * themselves.
     *
     * @param queue with room for {@code depth} completions
     * @return this
     */
    public Builder sendQueue(CompletionQueue queue) {
      this.sendQueue = Objects.requireNonNull(queue, "sendQueue");
      return this;
    }

    /**
     * Sets where receives complete.
     *
     * @param queue with room for {@code receiveDepth} completions
     * @return this
     */
    public Builder receiveQueue(CompletionQueue queue) {
      this.receiveQueue = Objects.requireNonNull(queue, "receiveQueue");
      return this;
    }

    /**
     * Sets how long close waits for those who still use the queue; then the memory is left
     * allocated.
     *
     * @param timeout 0 or more
     * @return this
     * @throws IllegalArgumentException if negative
     */
    public Builder closeTimeout(Duration timeout) {
      Deadline.nanos(timeout);
      this.closeTimeout = timeout;
      return this;
    }

    /**
     * Sets how long a submitter waits for its turn before it sets the queue pair's ERROR.
     *
     * @param timeout above 0
     * @return this
     * @throws IllegalArgumentException if not above 0
     */
    public Builder submitTimeout(Duration timeout) {
      if (Deadline.nanos(timeout) == 0) {
        throw new IllegalArgumentException("submitTimeout is 0: take more");
      }
      this.submitTimeout = timeout;
      return this;
    }

    /**
     * Checks the combination.
     *
     * @return the options
     * @throws IllegalArgumentException if a receive queue's depth and CQ are not given together, if
     *     a placement or fence mode does not go with the rest, or if the depth is too small for the
     *     doorbell interval
     */
    public QueuePairOptions build() {
      if ((receiveDepth > 0) != (receiveQueue != null)) {
        throw new IllegalArgumentException("give receiveDepth and receiveQueue together");
      }
      if (placement == Placement.GPU && gpu == null) {
        throw new IllegalArgumentException(
            "placement GPU needs a GPU whose kernels submit: give gpu(...), or take HOST");
      }
      if (placement == Placement.GPU && receiveQueue != null) {
        throw new IllegalArgumentException(
            "a queue pair in GPU memory has no receive queue: take placement HOST to receive");
      }
      if (placement == Placement.GPU && sendQueue != null) {
        throw new IllegalArgumentException(
            "a queue pair in GPU memory has a collapsed send CQ, which lies there too: leave out"
                + " sendQueue, or take placement HOST");
      }
      if (policy.fenceMode() == FenceMode.DEVICE
          && placement != Placement.GPU
          && (gpu != null || !policy.unchecked())) {
        throw new IllegalArgumentException(
            "FenceMode.DEVICE is unproven for a queue in host memory: take SYSTEM,"
                + " or SubmitPolicy.unchecked(...)");
      }
      if (policy.doorbellEvery() > depth) {
        throw new IllegalArgumentException(
            "doorbellEvery "
                + policy.doorbellEvery()
                + " is more than the depth "
                + depth
                + ": take a smaller interval or a larger depth");
      }
      return new QueuePairOptions(this);
    }

    private static int powerOfTwo(String name, int value, int least) {
      if (value < least || value > MAX_DEPTH || Integer.bitCount(value) != 1) {
        throw new IllegalArgumentException(
            name + " is " + value + ": take a power of two in " + least + ".." + MAX_DEPTH);
      }
      return value;
    }
  }
}
