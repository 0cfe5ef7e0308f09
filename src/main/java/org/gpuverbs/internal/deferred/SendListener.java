// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import org.jspecify.annotations.Nullable;

/**
 * Hears of a send's stages. Called without the queue's lock, by the thread that works or that sent;
 * each method at most once, in no certain order between threads.
 */
public interface SendListener {
  /** The request was handed to its queue pair or inbox. */
  void released();

  /** The data has arrived. */
  void delivered();

  /**
   * It will be neither released nor delivered, or was released and not delivered.
   *
   * @param code a status or a syndrome
   * @param cause what is behind it
   * @param afterRelease which of the two
   */
  void failed(int code, @Nullable Throwable cause, boolean afterRelease);

  /**
   * Nothing reads or writes the source any more.
   *
   * @param cause null; or why that is not certain
   */
  void sourceReusable(@Nullable Throwable cause);
}
