// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.events;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** A queue pair was connected. */
@Name("org.gpuverbs.QueuePairConnected")
@Label("Queue Pair Connected")
@Category("gpuverbs")
public final class QueuePairConnected extends Event {
  /** The number. */
  @Label("Queue Pair")
  public int number;

  /** The peer's number. */
  @Label("Peer")
  public int peer;

  /** The path. */
  @Label("Path")
  public String path = "";
}
