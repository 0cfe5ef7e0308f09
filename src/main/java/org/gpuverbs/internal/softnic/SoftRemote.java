// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.time.Duration;

/**
 * What a QP has to know of its peer to become ready.
 *
 * @param guid the peer's NIC
 * @param qpn the peer's QP number, 24 bits
 * @param psn the packet sequence number of the peer's first message, 24 bits; equals the peer's
 *     {@code localPsn}
 * @param localPsn ours, which the peer must know as its {@code psn}; take a fresh one for each
 *     connect
 * @param retryCount 0..7: how often a message is repeated that the peer doesn't answer, before
 *     syndrome 0x15
 * @param rnrRetry 0..6: how often a message is repeated that found no receive, before syndrome
 *     0x16; 7: forever
 * @param timeout how long to wait for an answer before a repetition; positive, at most an hour
 */
public record SoftRemote(
    long guid, int qpn, int psn, int localPsn, int retryCount, int rnrRetry, Duration timeout) {

  /** The RNR retry count that means forever. */
  public static final int RNR_RETRY_FOREVER = 7;

  public SoftRemote {
    range("qpn", qpn, 0xff_ffff);
    range("psn", psn, 0xff_ffff);
    range("localPsn", localPsn, 0xff_ffff);
    range("retryCount", retryCount, 7);
    range("rnrRetry", rnrRetry, RNR_RETRY_FOREVER);
    SoftNicConfig.timer("timeout", timeout);
  }

  /** Seven repetitions 67 ms apart (0.5 s in all), RNR retried forever. */
  public SoftRemote(long guid, int qpn, int psn, int localPsn) {
    this(guid, qpn, psn, localPsn, 7, RNR_RETRY_FOREVER, Duration.ofMillis(67));
  }

  private static void range(String name, int value, int high) {
    if (value < 0 || value > high) {
      throw new IllegalArgumentException(
          name + " must be 0..0x" + Integer.toHexString(high) + ": " + value);
    }
  }
}
