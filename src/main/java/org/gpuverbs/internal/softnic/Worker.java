// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/** A NIC thread: polls the doorbells of its QPs and serves them in turn. */
final class Worker {
  private static final Logger LOG = System.getLogger("org.gpuverbs.softnic");
  private static final VarHandle EPOCH;

  static {
    try {
      EPOCH = MethodHandles.lookup().findVarHandle(Worker.class, "epoch", long.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static final SoftQp[] NONE = {};
  // Spinning starves the submitter where there are only two cores.
  private static final int SPINS = Runtime.getRuntime().availableProcessors() <= 2 ? 16 : 2000;
  private static final int YIELDS = 200;
  // Doorbells are stores that wake nobody, so an idle thread has to look. The short rest bounds the
  // latency of pauses in traffic; the long one, after about a tenth of a second, makes an idle NIC
  // cheap (each wake-up costs around 10 us of a core).
  private static final int SHORT_PARKS = 1000;
  private static final long SHORT_PARK_NANOS = 50_000;
  private static final long LONG_PARK_NANOS = 1_000_000;
  private static final long PARK_WITHOUT_QPS_NANOS = 100_000_000;

  // Without a rest, so that what a lost doorbell stood for does not wait until all QPs are quiet.
  private static final long PASSES_TO_LOOK_AGAIN = 4096;

  private final Requester requester;
  private final DoorbellRule doorbells;
  private final Thread thread;
  private volatile SoftQp[] qps = NONE;
  private volatile boolean stopped;

  /** Odd while a pass is under way; each pass has its own value. */
  @SuppressWarnings("unused")
  private long epoch;

  Worker(SoftNicConfig config, String name) {
    requester = new Requester(config);
    doorbells = config.doorbells();
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  Thread thread() {
    return thread;
  }

  DevicePayload devices() {
    return requester.devices();
  }

  synchronized void add(SoftQp qp) {
    SoftQp[] more = Arrays.copyOf(qps, qps.length + 1);
    more[qps.length] = qp;
    qps = more;
    LockSupport.unpark(thread);
  }

  synchronized void remove(SoftQp qp) {
    qps = Arrays.stream(qps).filter(other -> other != qp).toArray(SoftQp[]::new);
  }

  void stop() {
    stopped = true;
    LockSupport.unpark(thread);
  }

  /**
   * Waits until the pass that is under way, if any, is over: see {@link Fabric#quiesce}.
   *
   * @throws IllegalStateException if it isn't by the deadline
   */
  void quiesce(long deadline) {
    // With the full fence at the beginning of a pass: either this sees the pass, or the pass sees
    // what the caller has changed.
    VarHandle.fullFence();
    long seen = (long) EPOCH.getVolatile(this);
    if ((seen & 1) == 0) {
      return;
    }
    for (int spins = 0; (long) EPOCH.getVolatile(this) == seen; spins++) {
      if (System.nanoTime() - deadline >= 0) {
        throw new IllegalStateException(
            thread.getName()
                + " did not end its pass within "
                + Fabric.PATIENCE.toSeconds()
                + " s");
      }
      SpinLock.pause(spins);
    }
  }

  private void run() {
    int idle = 0;
    long pass = 0;
    while (!stopped) {
      EPOCH.setVolatile(this, pass + 1);
      boolean moved = false;
      SoftQp[] all = qps;
      boolean again = looksAgain(pass / 2, idle);
      for (SoftQp qp : all) {
        try {
          moved |= requester.poll(qp, again);
        } catch (RuntimeException | Error e) {
          // Such as the InternalError of a truncated mapped file, which may come late.
          LOG.log(Level.ERROR, "software NIC: a pass over QP " + qp.number() + " failed", e);
        }
      }
      pass += 2;
      EPOCH.setRelease(this, pass);
      idle = moved ? 0 : Math.min(idle + 1, Integer.MAX_VALUE - 1);
      if (idle > 0) {
        rest(idle, all.length == 0);
      }
    }
  }

  private boolean looksAgain(long pass, int idle) {
    return switch (doorbells) {
      case STRICT -> false;
      case LOOKS_AGAIN -> idle > SPINS + YIELDS || pass % PASSES_TO_LOOK_AGAIN == 0;
      case POLLED -> true;
    };
  }

  private void rest(int idle, boolean noQps) {
    if (noQps) {
      // add() unparks.
      LockSupport.parkNanos(this, PARK_WITHOUT_QPS_NANOS);
    } else if (idle <= SPINS) {
      Thread.onSpinWait();
    } else if (idle <= SPINS + YIELDS) {
      Thread.yield();
    } else {
      boolean pause = idle <= SPINS + YIELDS + SHORT_PARKS;
      LockSupport.parkNanos(this, pause ? SHORT_PARK_NANOS : LONG_PARK_NANOS);
    }
  }
}
