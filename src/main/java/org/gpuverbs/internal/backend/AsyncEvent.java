// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.backend;

/** What a NIC says beside the completions, in words. */
final class AsyncEvent {
  // enum ibv_event_type of rdma-core's libibverbs/verbs.h, and what to do.
  private static final String[] EVENTS = {
    "CQ error: the NIC could not write a completion",
    "queue pair fatal error: the NIC could not read the queue's memory",
    "invalid request: the NIC refused a WQE that is no part of the protocol",
    "access error: the peer touched memory that it may not",
    "communication established",
    "send queue drained",
    "path migrated",
    "path migration failed",
    "device fatal error: the NIC was reset or is gone; open it again",
    "port active",
    "port down: check the cable and the switch's port",
    "LID change",
    "P_Key change",
    "subnet manager change",
    "shared receive queue error",
    "shared receive queue limit",
    "last WQE reached",
    "client reregister",
    "GID change",
    "work queue fatal error: the NIC could not read the queue's memory"
  };

  // QPC.state: linux include/linux/mlx5/qp.h, enum mlx5_qp_state.
  private static final String[] STATES = {
    "RESET", "INIT", "RTR", "RTS", "SQER", "SQD", "ERROR", "SQ_DRAINING", "8", "SUSPENDED"
  };

  private AsyncEvent() {}

  /**
   * @param event gv_direct_status.event
   */
  static String describe(int event) {
    if (event == 0) {
      return "";
    }
    int type = event - 1;
    return type < EVENTS.length ? EVENTS[type] : "event " + type;
  }

  static String state(int state) {
    return state >= 0 && state < STATES.length ? STATES[state] : Integer.toString(state);
  }
}
