// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.util.Objects;

/**
 * A QP of a software NIC. Any thread.
 *
 * <p>Two locks: {@link #sendLock} for the requester half (the QP's own NIC thread), {@link
 * #receiveLock} for the responder half (the peer's NIC thread). Control operations take both, in
 * that order. A NIC thread that holds its QP's send lock takes the peer's receive lock, never a
 * send lock, so there is no cycle.
 */
public final class SoftQp implements AutoCloseable {
  final SoftNic nic;
  final SoftQpAttr attr;
  final Worker worker;
  private final int number;

  // The attr's memory by address, for the hot path.
  final long ring;
  final int mask;
  final long dbr;
  final long doorbell;
  final long collapsedCqe;
  final long receiveRing;
  final int receiveMask;

  final SpinLock sendLock = new SpinLock();
  final SpinLock receiveLock = new SpinLock();

  /**
   * RESET, READY and CLOSED are entered under both locks; READY to ERROR under either, since each
   * half finds its own errors.
   */
  volatile SoftState state = SoftState.RESET;

  // Set by connect under both locks.
  SoftRemote remote;

  // Requester half, under sendLock.
  long ci;
  long pi;
  int sendPsn;

  /** Index of the last signalled WQE whose collapsed CQE isn't written yet, or -1. */
  long signalled;

  int signalledOpcode;
  long signalledBytes;

  /** Collapsed mode: the CQE holds the first error and must not be overwritten. */
  boolean errorLatched;

  /** Collapsed mode: later errors overwrite it all the same, as in hardware. */
  final boolean flushesOverwrite;

  int stall;
  long stallDeadline;
  long stallCi;

  /** WQEs since connect, and how many of them the fault hook has been asked about. */
  long ordinal;

  long faultAsked;
  SoftQp peer;
  SoftMr localMr = SoftMr.NONE;
  SoftMr remoteMr = SoftMr.NONE;

  /** Of the QP's NIC thread only: something to do without a doorbell. */
  boolean attention;

  // Responder half, under receiveLock.
  long receiveCi;
  long receivePi;
  int expectedPsn;

  final Counter wqes = new Counter();
  final Counter bytes = new Counter();
  final Counter doorbells = new Counter();
  final Counter strayDoorbells = new Counter();
  final Counter cqes = new Counter();
  final Counter rnrStalls = new Counter();
  final Counter retryStalls = new Counter();
  final Counter receives = new Counter();

  SoftQp(SoftNic nic, int number, Worker worker, SoftQpAttr attr) {
    this.nic = nic;
    this.number = number;
    this.worker = worker;
    this.attr = attr;
    ring = attr.ring().address();
    mask = attr.depth() - 1;
    dbr = attr.dbr().address();
    doorbell = attr.doorbell().address();
    collapsedCqe = attr.collapsedCqe() == null ? 0 : attr.collapsedCqe().address();
    receiveRing = attr.receiveRing() == null ? 0 : attr.receiveRing().address();
    receiveMask = attr.receiveDepth() - 1;
    flushesOverwrite = nic.flushesOverwrite();
  }

  /** 24-bit QP number, unique on its NIC; kept over reset. */
  public int number() {
    return number;
  }

  /** Current state. */
  public SoftState state() {
    return state;
  }

  /**
   * Makes the QP ready. Both sides have to connect; messages wait for the peer as long as its
   * retries allow.
   *
   * @throws IllegalStateException if the QP isn't in RESET
   */
  public void connect(SoftRemote remote) {
    Objects.requireNonNull(remote, "remote");
    lockBoth();
    try {
      if (state != SoftState.RESET) {
        throw new IllegalStateException("connect needs a QP in RESET; this one is in " + state);
      }
      this.remote = remote;
      sendPsn = remote.localPsn();
      expectedPsn = remote.psn();
      clear();
      state = SoftState.READY;
      worker.add(this);
    } finally {
      unlockBoth();
    }
  }

  /**
   * Back to RESET: indexes 0, doorbell cleared, nothing flushed. Returns once no NIC thread touches
   * the QP's memory, so that its owner can clear the rest.
   *
   * @throws IllegalStateException if the QP is closed, or a NIC thread doesn't let go within 10 s
   */
  public void reset() {
    lockBoth();
    try {
      if (state == SoftState.CLOSED) {
        throw new IllegalStateException("the QP is closed");
      }
      state = SoftState.RESET;
      clear();
      HostMemory.getAndSetLong(doorbell, 0);
      worker.remove(this);
    } finally {
      unlockBoth();
    }
    worker.quiesce(Fabric.deadline());
  }

  /**
   * To ERROR; outstanding send and receive WQEs are flushed. In RESET or CLOSED nothing happens.
   */
  public void fail() {
    lockBoth();
    try {
      if (enterError()) {
        Completions.flushSends(this);
        Responder.flushReceives(this);
      }
    } finally {
      unlockBoth();
    }
  }

  /** Send WQEs consumed since creation, flushed ones included. */
  public long wqes() {
    return wqes.value();
  }

  /** Index of the next send WQEBB to execute since connect; a NIC thread may be ahead of it. */
  public long sendIndex() {
    return ci;
  }

  /** Payload bytes moved by this QP's WQEs since creation. */
  public long bytes() {
    return bytes.value();
  }

  /** Doorbells taken; several that fall together count once. */
  public long doorbells() {
    return doorbells.value();
  }

  /** Doorbells that named another QP and were ignored. */
  public long strayDoorbells() {
    return strayDoorbells.value();
  }

  /** Send CQEs written, merged ones not counted. */
  public long cqes() {
    return cqes.value();
  }

  /** Receive WQEs consumed by the peer, flushed ones included. */
  public long receives() {
    return receives.value();
  }

  /** How often a message found no receive at the peer. */
  public long rnrStalls() {
    return rnrStalls.value();
  }

  /** How often a message found the peer not answering. */
  public long retryStalls() {
    return retryStalls.value();
  }

  /**
   * Closes the QP; returns once no NIC thread touches its memory. Twice is fine.
   *
   * @throws IllegalStateException if a NIC thread doesn't let go within 10 s: the memory must not
   *     be freed
   */
  @Override
  public void close() {
    lockBoth();
    state = SoftState.CLOSED;
    clear();
    unlockBoth();
    worker.remove(this);
    nic.forget(this);
    worker.quiesce(Fabric.deadline());
  }

  /**
   * READY to ERROR, under either lock; both halves may do it at the same time. Whether it was
   * READY.
   */
  boolean enterError() {
    if (state != SoftState.READY) {
      return false;
    }
    state = SoftState.ERROR;
    return true;
  }

  boolean collapsed() {
    return collapsedCqe != 0;
  }

  private void clear() {
    ci = 0;
    pi = 0;
    ordinal = 0;
    faultAsked = 0;
    signalled = -1;
    errorLatched = false;
    stall = 0;
    peer = null;
    localMr = SoftMr.NONE;
    remoteMr = SoftMr.NONE;
    receiveCi = 0;
    receivePi = 0;
  }

  private void lockBoth() {
    long deadline = Fabric.deadline();
    if (!sendLock.lock(deadline)) {
      throw stuck();
    }
    if (!receiveLock.lock(deadline)) {
      sendLock.unlock();
      throw stuck();
    }
  }

  private void unlockBoth() {
    receiveLock.unlock();
    sendLock.unlock();
  }

  private IllegalStateException stuck() {
    return new IllegalStateException(
        "a NIC thread did not let go of QP "
            + number
            + " within "
            + Fabric.PATIENCE.toSeconds()
            + " s");
  }
}
