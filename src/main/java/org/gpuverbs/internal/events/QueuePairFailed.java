// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.events;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** Java saw that a queue pair is in ERROR. */
@Name("org.gpuverbs.QueuePairFailed")
@Label("Queue Pair Failed")
@Category("gpuverbs")
public final class QueuePairFailed extends Event {
  /** The number. */
  @Label("Queue Pair")
  public int number;

  /** The first error's mlx5 syndrome; 0 if no completion told it. */
  @Label("Syndrome")
  public int syndrome;

  /** The first error's WQE index; -1 if no completion told it. */
  @Label("WQE Index")
  public long index;
}
