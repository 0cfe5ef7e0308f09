// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

/** Who waits for an event. */
public interface Waiter {
  /**
   * The event is over. Called once for each event, by whoever polls the lines.
   *
   * @param events whose it was
   * @param result {@link DeviceEvents#DONE}, or negative if the device failed
   */
  void eventOver(DeviceEvents events, int result);
}
