// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import org.jspecify.annotations.Nullable;

/** A destination: what is ready to go there, and how to find it. For the lock's holder. */
public abstract class Port {
  final Chain ready = new Chain();
  boolean listed;

  /** Nothing is ready. */
  protected Port() {}

  /**
   * Where the destination is now. Asked at each release, since it may have moved since the call.
   *
   * @return null if that is not known at present: the send waits
   */
  protected abstract @Nullable Outlet resolve();
}
