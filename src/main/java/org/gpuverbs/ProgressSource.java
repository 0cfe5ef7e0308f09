// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/** Something that a {@link Progress} looks at, besides completion queues and tickets. */
interface ProgressSource {
  /** Looks once; returns how much was done. By the progress's working thread. */
  int look();

  /** How much is not over yet. */
  int pending();

  boolean isClosed();

  void bind(Progress owner);

  void unbind(Progress owner);
}
