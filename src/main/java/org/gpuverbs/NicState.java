// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Objects;

/**
 * What a NIC says of a queue pair of path DIRECT: a snapshot, for finding out why work does not
 * move.
 *
 * @param state InfiniBand's name of the state: {@code RESET}, {@code INIT}, {@code RTR}, {@code
 *     RTS}, {@code SQER}, {@code SQD}, {@code ERROR} or {@code SUSPENDED}
 * @param sendIndex the low 16 bits of the send WQE index, in basic blocks, that the NIC has come to
 * @param receiveIndex the low 16 bits of the receive index
 * @param peer the peer's queue pair number; 0 before connect
 * @param event the asynchronous event that ended it, in words; empty if there was none
 */
public record NicState(String state, int sendIndex, int receiveIndex, int peer, String event) {
  /** Checks that no component is null. */
  public NicState {
    Objects.requireNonNull(state, "state");
    Objects.requireNonNull(event, "event");
  }
}
