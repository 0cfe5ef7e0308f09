// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import org.jspecify.annotations.Nullable;

/** A first-in-first-out list of slots that one can leave from the middle. For the lock's holder. */
final class Chain {
  /** A slot's place in a chain. */
  static final class Link {
    final Slot slot;
    private @Nullable Link before;
    private @Nullable Link after;
    private @Nullable Chain in;

    Link(Slot slot) {
      this.slot = slot;
    }

    /** The one behind it in its chain. */
    @Nullable Link next() {
      return after;
    }

    boolean linked() {
      return in != null;
    }
  }

  private @Nullable Link first;
  private @Nullable Link last;
  private int size;

  boolean isEmpty() {
    return first == null;
  }

  int size() {
    return size;
  }

  @Nullable Slot first() {
    return first == null ? null : first.slot;
  }

  @Nullable Link firstLink() {
    return first;
  }

  void add(Link link) {
    link.in = this;
    link.before = last;
    link.after = null;
    if (last == null) {
      first = link;
    } else {
      last.after = link;
    }
    last = link;
    size++;
  }

  /** Does nothing if it is not linked. */
  static void remove(Link link) {
    Chain chain = link.in;
    if (chain == null) {
      return;
    }
    if (link.before == null) {
      chain.first = link.after;
    } else {
      link.before.after = link.after;
    }
    if (link.after == null) {
      chain.last = link.before;
    } else {
      link.after.before = link.before;
    }
    link.in = null;
    link.before = null;
    link.after = null;
    chain.size--;
  }
}
