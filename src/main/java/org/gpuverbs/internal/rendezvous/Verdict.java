// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

/** The listener's answer to a connector's proof. The order is the code on the wire: append only. */
enum Verdict {
  WELCOME("welcome"),
  /** The only one that carries no proof: the two sides share nothing to prove with. */
  WRONG_SECRET("it did not prove that it knows the secret"),
  RANK_TAKEN("its rank is taken"),
  FULL("this side has its peer already");

  private final String reason;

  Verdict(String reason) {
    this.reason = reason;
  }

  String reason() {
    return reason;
  }
}
