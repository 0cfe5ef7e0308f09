// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;
import org.gpuverbs.internal.wire.Wqe;

/**
 * The requester half of a NIC thread's QPs: takes doorbells and executes WQEs in order. One NIC
 * thread.
 */
final class Requester {
  private static final Logger LOG = System.getLogger("org.gpuverbs.softnic");

  // A pass ends after so much, so that other QPs get their turn and the submitter its completions.
  private static final int PASS_WQES = 256;
  private static final long PASS_BYTES = 512 * 1024;

  private final FaultInjection faults;
  private final long rnrTimerNanos;
  private final DevicePayload devices = new DevicePayload();
  private final Operations operations = new Operations(devices);
  private final FastWrites fast = new FastWrites();

  Requester(SoftNicConfig config) {
    faults = config.faults();
    rnrTimerNanos = config.rnrTimer().toNanos();
  }

  DevicePayload devices() {
    return devices;
  }

  /**
   * Looks at one QP, and {@code again} at its doorbell record although no doorbell was rung;
   * whether anything moved.
   */
  boolean poll(SoftQp q, boolean again) {
    if (HostMemory.getLongOpaque(q.doorbell) == 0
        && !q.attention
        && q.state != SoftState.ERROR
        && !again) {
      return false;
    }
    if (!q.sendLock.tryLock()) {
      return false;
    }
    boolean moved = false;
    try {
      if (q.state == SoftState.READY) {
        takeDoorbell(q, again);
        moved = q.ci < q.pi && drain(q);
        q.attention = q.ci < q.pi;
      }
      if (q.state == SoftState.ERROR) {
        takeDoorbell(q, again);
        moved |= q.ci < q.pi;
        Completions.flushSends(q);
        q.attention = false;
      }
    } catch (RuntimeException | Error e) {
      breakDown(q, e);
    } finally {
      q.sendLock.unlock();
    }
    // Not while a send lock and a peer's receive lock are held: this one is the peer's to take.
    if (q.state == SoftState.ERROR && q.receiveLock.tryLock()) {
      try {
        moved |= q.state == SoftState.ERROR && Responder.flushReceives(q);
      } finally {
        q.receiveLock.unlock();
      }
    }
    return moved;
  }

  /**
   * Takes the doorbell word, if one was rung, and only then reads the doorbell record. The word
   * wakes and names the QP; both conventions (producer index or a WQE's first 8 bytes) have the QP
   * number in the same place.
   */
  private void takeDoorbell(SoftQp q, boolean again) {
    boolean rung = false;
    if (HostMemory.getLongOpaque(q.doorbell) != 0) {
      long word = Long.reverseBytes(HostMemory.getAndSetLong(q.doorbell, 0));
      rung = Wqe.qpNumber(word) == q.number();
      (rung ? q.doorbells : q.strayDoorbells).add(1);
    }
    if (!rung && !again) {
      return;
    }
    int record = HostMemory.getBe32Acquire(q.dbr + Mlx5.DBR_SEND);
    // 16 bits; what lies behind is an old doorbell and says nothing new.
    int ahead = (short) (record - (int) q.ci);
    if (ahead <= q.attr.depth()) {
      q.pi = Math.max(q.pi, q.ci + ahead);
    } else if (q.enterError()) {
      Completions.error(q, 0, Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.QUEUE_OVERRUN);
    }
  }

  /** Executes WQEs until the pass is over, the queue is empty, or one stalls or fails. */
  private boolean drain(SoftQp q) {
    long first = q.ci;
    long end = Math.min(q.pi, first + PASS_WQES);
    long moved = 0;
    int acquired = Responder.acquire(q);
    SoftQp peer = acquired == Result.OK ? q.peer : null;
    try {
      while (q.ci < end && moved < PASS_BYTES && q.state == SoftState.READY) {
        if (peer != null && fastPossible(q)) {
          int n = fast.run(q, (int) (end - q.ci), PASS_BYTES - moved);
          advancePsn(q, peer, n);
          q.wqes.add(n);
          moved += fast.bytes;
          if (q.ci == end || moved >= PASS_BYTES) {
            break;
          }
        }
        int result = one(q, peer, acquired);
        if (result < 0) {
          stall(q, result);
          break;
        }
        moved += operations.bytes;
      }
    } finally {
      // Also before the lock is given away: what follows at the peer follows in order.
      settle(q);
      if (peer != null) {
        peer.receiveLock.unlock();
      }
      Completions.flushSuccess(q);
      q.bytes.add(moved);
    }
    return q.ci != first;
  }

  private boolean fastPossible(SoftQp q) {
    return faults == null
        && q.collapsed()
        && q.localMr.valid
        && q.localMr.host
        && q.remoteMr.valid
        && q.remoteMr.host
        && !devices.dirty()
        && q.remoteMr.allows(SoftMr.REMOTE_WRITE);
  }

  /** The WQE at q.ci, of any kind. A stall's result if it has to be tried again, else 0 or more. */
  private int one(SoftQp q, SoftQp peer, int noPeer) {
    long control = HostMemory.getBe64(SendParser.unit(q, 0));
    int opcode = Wqe.opcode(control);
    int wqebbs = Completions.wqebbs(q, control);
    operations.bytes = 0;
    int result = check(q, control);
    if (result == Result.OK && faults != null) {
      result = inject(q, opcode);
    }
    boolean dropped = result == Result.DROPPED;
    if (result == Result.OK) {
      result = operations.execute(q, peer, noPeer, control);
    }
    if (result < 0 && !dropped) {
      return result;
    }
    boolean mustSettle = result > 0 || (!q.collapsed() && !dropped && signalled(q));
    if (mustSettle && !settle(q)) {
      return Result.OK;
    }
    long failedCi = result > 0 ? devices.takeFailedCi() : -1;
    if (failedCi >= 0) {
      failAt(q, failedCi, result);
      return Result.OK;
    }
    if (result > 0) {
      q.enterError();
      Completions.error(q, opcode, Result.syndrome(result), Result.vendor(result));
    } else if (!dropped) {
      if (opcode != Mlx5.OPCODE_NOP && opcode != Mlx5.OPCODE_DUMP) {
        advancePsn(q, peer, 1);
      }
      if (signalled(q) && !Completions.success(q, opcode, operations.byteCount)) {
        q.enterError();
      }
    }
    q.ci += Math.min(wqebbs, q.pi - q.ci);
    q.ordinal++;
    q.wqes.add(1);
    return Result.OK;
  }

  /**
   * Waits for the copies of WQEs that have been executed. If they fail, the first of these WQEs is
   * the one that has failed; false then.
   */
  private boolean settle(SoftQp q) {
    if (!devices.dirty()) {
      return true;
    }
    int result = devices.settle();
    if (result == Result.OK) {
      return true;
    }
    failAt(q, devices.takeFailedCi(), result);
    return false;
  }

  private static void failAt(SoftQp q, long first, int result) {
    q.ci = first;
    if (q.signalled >= first) {
      q.signalled = -1;
    }
    long control = HostMemory.getBe64(SendParser.unit(q, 0));
    q.enterError();
    Completions.error(q, Wqe.opcode(control), Result.syndrome(result), Result.vendor(result));
    q.ci += Math.min(Completions.wqebbs(q, control), q.pi - q.ci);
  }

  private static int check(SoftQp q, long control) {
    int ds = Wqe.ds(control);
    int vendor;
    if (Wqe.index(control) != (q.ci & 0xffff)) {
      vendor = VendorSyndrome.WQE_INDEX;
    } else if (Wqe.qpNumber(control) != q.number()) {
      vendor = VendorSyndrome.WQE_QP_NUMBER;
    } else if (ds < 1 || ds > Mlx5.MAX_DS || Mlx5.wqebbs(ds) > q.pi - q.ci) {
      vendor = VendorSyndrome.WQE_SIZE;
    } else {
      return Result.OK;
    }
    return Result.error(Syndrome.LOCAL_QP_OPERATION, vendor);
  }

  private static boolean signalled(SoftQp q) {
    return Wqe.signalled(HostMemory.getBe64(SendParser.unit(q, 0) + 8));
  }

  /** One PSN a message. A responder that expects another one doesn't answer. */
  private static void advancePsn(SoftQp q, SoftQp peer, int messages) {
    q.sendPsn = (q.sendPsn + messages) & 0xff_ffff;
    peer.expectedPsn = (peer.expectedPsn + messages) & 0xff_ffff;
  }

  /** Asks the test hook, once a WQE. */
  private int inject(SoftQp q, int opcode) {
    if (q.stall == Result.DELAYED && q.stallCi == q.ci) {
      return System.nanoTime() - q.stallDeadline < 0 ? Result.DELAYED : Result.OK;
    }
    if (q.faultAsked > q.ordinal) {
      return Result.OK;
    }
    q.faultAsked = q.ordinal + 1;
    return switch (faults.fault(q.number(), q.ordinal, opcode)) {
      case Fault.None none -> Result.OK;
      case Fault.Drop drop -> Result.DROPPED;
      case Fault.Fail fail -> Result.error(fail.syndrome(), VendorSyndrome.INJECTED);
      case Fault.Delay delay -> {
        q.stall = Result.DELAYED;
        q.stallCi = q.ci;
        q.stallDeadline = System.nanoTime() + delay.duration().toNanos();
        yield Result.DELAYED;
      }
    };
  }

  /**
   * The WQE at q.ci could not go on: starts its timer, or ends it with an error when the timer is
   * over.
   */
  private void stall(SoftQp q, int kind) {
    if (kind != Result.RNR && kind != Result.NO_ANSWER) {
      return;
    }
    long now = System.nanoTime();
    SoftRemote remote = q.remote;
    if (q.stall != kind || q.stallCi != q.ci) {
      q.stall = kind;
      q.stallCi = q.ci;
      (kind == Result.RNR ? q.rnrStalls : q.retryStalls).add(1);
      // The message is tried again at every look, not only when a timer fires: the same outcome,
      // sooner.
      q.stallDeadline =
          now
              + (kind == Result.RNR
                  ? remote.rnrRetry() * rnrTimerNanos
                  : (remote.retryCount() + 1) * remote.timeout().toNanos());
    }
    boolean forever = kind == Result.RNR && remote.rnrRetry() == SoftRemote.RNR_RETRY_FOREVER;
    if (forever || now - q.stallDeadline < 0) {
      return;
    }
    long control = HostMemory.getBe64(SendParser.unit(q, 0));
    q.enterError();
    Completions.error(
        q,
        Wqe.opcode(control),
        kind == Result.RNR ? Syndrome.RNR_RETRY_EXCEEDED : Syndrome.RETRY_EXCEEDED,
        VendorSyndrome.NONE);
    q.ci += Math.min(Completions.wqebbs(q, control), q.pi - q.ci);
    q.wqes.add(1);
  }

  /**
   * A defect of this NIC must not stop its thread: the QP goes to ERROR and the reason is logged.
   */
  private static void breakDown(SoftQp q, Throwable cause) {
    LOG.log(Level.ERROR, "software NIC: QP " + q.number() + " failed", cause);
    q.enterError();
    Completions.error(q, 0, Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.INTERNAL);
    q.ci = q.pi;
  }
}
