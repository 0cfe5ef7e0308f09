// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.gpuverbs.internal.deferred.SendListener;
import org.jspecify.annotations.Nullable;

/**
 * A deferred send and its stages. Any thread; virtual threads may simply join a stage.
 *
 * <p>The stages complete on the sender's executor, and nobody else can complete them. Cancelling a
 * future made from one does not cancel the send, and its timeout frees no memory: use {@link
 * #cancel} and {@link #sourceReusable}.
 */
public final class DeferredSend {
  private final DeferredSender sender;
  private final Stages stages;
  private final long ticket;

  DeferredSend(DeferredSender sender, Stages stages, long ticket) {
    this.sender = sender;
    this.stages = stages;
    this.ticket = ticket;
    if (ticket < 0) {
      stages.refused(ticket);
    }
  }

  /**
   * Completes when the request is handed to its queue pair or inbox.
   *
   * @return a stage; fails with {@link RdmaException} if that will not be: {@link
   *     Status#DEVICE_ERROR} by the device's name, {@link Status#CANCELLED}, {@link Status#FULL} if
   *     the sender had no room, or the status of the submit; with syndrome {@link Syndrome#FLUSHED}
   *     if a send before it failed
   */
  public CompletionStage<Void> released() {
    return stages.released.minimalCompletionStage();
  }

  /**
   * Completes when nothing reads or writes the source any more: for a queue pair when the request
   * is complete, or at the release if all data is inline; in this JVM when the receiver has closed
   * the message; for a send that was cancelled or failed when its device work is over.
   *
   * @return a stage; fails if that is not certain, since the device failed or the sender was closed
   */
  public CompletionStage<Void> sourceReusable() {
    return stages.sourceReusable.minimalCompletionStage();
  }

  /**
   * Completes when the data is in the receiver's memory, or the message in its inbox.
   *
   * @return a stage; fails as {@link #released}, or later with the request's syndrome
   */
  public CompletionStage<Void> delivered() {
    return stages.delivered.minimalCompletionStage();
  }

  /**
   * Withdraws the send. The device work still runs, and the source stays busy until it is over.
   *
   * @return true if it will not be released; false if it has been, is about to be, or is over
   */
  public boolean cancel() {
    return ticket >= 0 && sender.cancel(ticket);
  }

  /**
   * How far it has come.
   *
   * @return the state
   */
  public SendState state() {
    return ticket < 0 ? SendState.FAILED : sender.state(ticket);
  }

  /**
   * Its name among the sender's tickets.
   *
   * @return a ticket, or a negative {@link Status} if it was not taken
   */
  public long ticket() {
    return ticket;
  }

  /** Turns what the queue tells into stages. */
  static final class Stages implements SendListener {
    private final String what;
    private final Executor executor;
    private final CompletableFuture<Void> released = new CompletableFuture<>();
    private final CompletableFuture<Void> delivered = new CompletableFuture<>();
    private final CompletableFuture<Void> sourceReusable = new CompletableFuture<>();

    Stages(String what, Executor executor) {
      this.what = what;
      this.executor = executor;
    }

    private void refused(long status) {
      failed((int) status, null, false);
      sourceReusable(null);
    }

    @Override
    public void released() {
      complete(released, null);
    }

    @Override
    public void delivered() {
      complete(delivered, null);
    }

    @Override
    public void failed(int code, @Nullable Throwable cause, boolean afterRelease) {
      RdmaException e = RdmaException.of(what, code, cause);
      if (!afterRelease) {
        complete(released, e);
      }
      complete(delivered, e);
    }

    @Override
    public void sourceReusable(@Nullable Throwable cause) {
      complete(sourceReusable, cause);
    }

    private void complete(CompletableFuture<Void> stage, @Nullable Throwable failure) {
      try {
        executor.execute(
            () -> {
              if (failure == null) {
                stage.complete(null);
              } else {
                stage.completeExceptionally(failure);
              }
            });
      } catch (RuntimeException e) {
        // Rejected, most likely. The stage's owner must learn of it all the same.
        stage.completeExceptionally(failure == null ? e : failure);
      }
    }
  }
}
