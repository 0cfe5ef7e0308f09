// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.List;
import java.util.function.Predicate;

/**
 * Enumerates the ways to extend a partial order so that every given pair is ordered one way or the
 * other.
 */
final class Orientations {
  private Orientations() {}

  /**
   * Calls {@code visitor} with each extension, closed under transitivity, until it returns true.
   *
   * @param order a transitively closed, irreflexive relation
   * @return whether the visitor did
   */
  static boolean any(Relation order, List<int[]> pairs, Predicate<Relation> visitor) {
    return extend(order, pairs, 0, visitor);
  }

  private static boolean extend(
      Relation order, List<int[]> pairs, int next, Predicate<Relation> visitor) {
    int at = next;
    while (at < pairs.size() && ordered(order, pairs.get(at))) {
      at++;
    }
    if (at == pairs.size()) {
      return visitor.test(order);
    }
    int[] pair = pairs.get(at);
    Relation forward = order.copy();
    forward.addClosed(pair[0], pair[1]);
    if (extend(forward, pairs, at + 1, visitor)) {
      return true;
    }
    Relation backward = order.copy();
    backward.addClosed(pair[1], pair[0]);
    return extend(backward, pairs, at + 1, visitor);
  }

  private static boolean ordered(Relation order, int[] pair) {
    return order.has(pair[0], pair[1]) || order.has(pair[1], pair[0]);
  }
}
