// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import org.gpuverbs.internal.wire.Mlx5;
import org.gpuverbs.internal.wire.Syndrome;
import org.gpuverbs.internal.wire.VendorSyndrome;
import org.gpuverbs.internal.wire.Wqe;

/**
 * The responder half of a QP, run by the peer's NIC thread (or, to flush, by its own). All under
 * the QP's receive lock.
 */
final class Responder {
  private Responder() {}

  /**
   * Takes the responder that {@code q} is connected to: its receive lock is held if the result is
   * OK. BUSY if somebody else has it for the moment, NO_ANSWER if it isn't there, isn't connected
   * to us, or expects another PSN.
   */
  static int acquire(SoftQp q) {
    SoftQp peer = q.peer;
    if (peer == null || peer.state == SoftState.CLOSED) {
      peer = Fabric.find(q.remote.guid(), q.remote.qpn());
      q.peer = peer;
      if (peer == null) {
        return Result.NO_ANSWER;
      }
    }
    if (!peer.receiveLock.tryLock()) {
      return Result.BUSY;
    }
    if (peer.state == SoftState.READY
        && peer.remote.guid() == q.nic.guid()
        && peer.remote.qpn() == q.number()
        && peer.expectedPsn == q.sendPsn) {
      return Result.OK;
    }
    peer.receiveLock.unlock();
    return Result.NO_ANSWER;
  }

  /** Finds the region of a remote key; an error moves the responder to ERROR, as a NAK does. */
  static SoftMr region(SoftQp peer, SoftQp q, int rkey) {
    SoftMr mr = q.remoteMr;
    if (mr.key == rkey && mr.valid) {
      return mr;
    }
    mr = peer.nic.keys.find(rkey);
    if (mr == null || !mr.valid) {
      return null;
    }
    q.remoteMr = mr;
    return mr;
  }

  /** OK if a receive WQE is there, RNR if not, or an error. */
  static int receiveReady(SoftQp peer) {
    if (peer.receiveRing == 0) {
      // Hardware would say "not ready" for ever; this can never become right.
      return refuse(peer, Syndrome.REMOTE_INVALID_REQUEST, VendorSyndrome.NO_RECEIVE_QUEUE);
    }
    if (peer.receiveCi == peer.receivePi && !readProducerIndex(peer)) {
      return failReceive(
          peer,
          Syndrome.LOCAL_QP_OPERATION,
          VendorSyndrome.QUEUE_OVERRUN,
          Syndrome.REMOTE_OPERATION);
    }
    return peer.receiveCi == peer.receivePi ? Result.RNR : Result.OK;
  }

  /**
   * Lists where the receive WQE that is due takes a message of {@code total} bytes. An error has
   * been completed at the responder; the result is the requester's.
   */
  static int scatterList(SoftQp peer, long total, SegmentList out) {
    long wqe = peer.receiveRing + ((peer.receiveCi & peer.receiveMask) * Mlx5.RECEIVE_STRIDE);
    long left = total;
    for (int i = 0; i < Mlx5.RECEIVE_MAX_SEGMENTS && left > 0; i++) {
      long head = HostMemory.getBe64(wqe + (long) i * Mlx5.UNIT);
      int lkey = Wqe.lkey(head);
      if (lkey == Mlx5.INVALID_LKEY) {
        break;
      }
      long length = Wqe.byteCount(head);
      SoftMr mr = peer.nic.keys.find(lkey);
      long offset =
          mr == null ? 0 : HostMemory.getBe64(wqe + (long) i * Mlx5.UNIT + 8) - mr.address;
      int vendor =
          mr == null || !mr.valid
              ? VendorSyndrome.KEY
              : !mr.contains(offset, length)
                  ? VendorSyndrome.BOUNDS
                  : !mr.allows(SoftMr.LOCAL_WRITE) ? VendorSyndrome.PERMISSION : 0;
      if (vendor != 0) {
        return failReceive(peer, Syndrome.LOCAL_PROTECTION, vendor, Syndrome.REMOTE_OPERATION);
      }
      long bytes = Math.min(left, length);
      out.add(mr, offset, bytes);
      left -= bytes;
    }
    if (left > 0) {
      return failReceive(
          peer,
          Syndrome.LOCAL_LENGTH,
          VendorSyndrome.RECEIVE_TOO_SHORT,
          Syndrome.REMOTE_INVALID_REQUEST);
    }
    return Result.OK;
  }

  /** Completes the receive that is due. */
  static int completeReceive(
      SoftQp peer, int cqeOpcode, boolean solicited, long bytes, int immediate) {
    boolean written =
        peer.attr
            .receiveCq()
            .put(
                cqeOpcode,
                solicited,
                peer.number(),
                (int) peer.receiveCi,
                bytes,
                immediate,
                Syndrome.NONE,
                0);
    if (!written) {
      return refuse(peer, Syndrome.REMOTE_OPERATION, VendorSyndrome.CQ_OVERRUN);
    }
    peer.receiveCi++;
    peer.receives.add(1);
    return Result.OK;
  }

  /**
   * A NAK that involves no receive WQE: the responder goes to ERROR and its receives are flushed.
   */
  static int refuse(SoftQp peer, int requesterSyndrome, int vendor) {
    if (peer.enterError()) {
      flushReceives(peer);
    }
    return Result.error(requesterSyndrome, vendor);
  }

  /** The receive that is due fails with its own syndrome, then as {@link #refuse}. */
  static int failReceive(SoftQp peer, int syndrome, int vendor, int requesterSyndrome) {
    errorCqe(peer, syndrome, vendor);
    return refuse(peer, requesterSyndrome, vendor);
  }

  /** Completes every posted receive with 0x05; whether there were any. */
  static boolean flushReceives(SoftQp q) {
    if (q.receiveRing == 0) {
      return false;
    }
    readProducerIndex(q);
    boolean any = q.receiveCi < q.receivePi;
    while (q.receiveCi < q.receivePi) {
      errorCqe(q, Syndrome.FLUSHED, 0);
    }
    return any;
  }

  private static void errorCqe(SoftQp q, int syndrome, int vendor) {
    q.attr
        .receiveCq()
        .put(Mlx5.CQE_RESP_ERR, false, q.number(), (int) q.receiveCi, 0, 0, syndrome, vendor);
    q.receiveCi++;
    q.receives.add(1);
  }

  /**
   * Reads the doorbell record, which needs no doorbell for receives. False if it is more than the
   * ring's depth ahead.
   */
  private static boolean readProducerIndex(SoftQp q) {
    int behind = (short) (HostMemory.getBe32Acquire(q.dbr + Mlx5.DBR_RECEIVE) - (int) q.receiveCi);
    if (behind > q.attr.receiveDepth()) {
      return false;
    }
    q.receivePi = Math.max(q.receivePi, q.receiveCi + behind);
    return true;
  }
}
