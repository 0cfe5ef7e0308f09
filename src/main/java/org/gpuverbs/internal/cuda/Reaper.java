// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cuda;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The thread that makes the calls which wait for kernels: freeing, unloading, synchronizing. A
 * caller waits for it no longer than it wants to; what was begun goes on. Any thread.
 */
public final class Reaper {
  private final ExecutorService thread;

  /** A daemon thread, started at the first call. */
  public Reaper(String name) {
    thread =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon(true).name(name + "-reaper").factory());
  }

  /** Runs it behind what was asked for earlier; whether it ended well by the deadline. */
  public boolean run(Runnable task, long deadline) {
    Future<?> done = thread.submit(task);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          done.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
          return true;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException | ExecutionException e) {
          return false;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Ends the thread once it has done what was asked for. */
  public void stop() {
    thread.shutdown();
  }
}
