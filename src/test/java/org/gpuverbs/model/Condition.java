// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** A predicate over final registers ({@code P2:r1}) and final memory ({@code dbr}). */
sealed interface Condition {
  /** A term that is not known yet evaluates to null, and so does a predicate that depends on it. */
  @FunctionalInterface
  interface State {
    Long valueOf(String term);
  }

  record Test(String left, Instruction.Compare compare, String right) implements Condition {}

  record All(List<Condition> parts) implements Condition {}

  record Any(List<Condition> parts) implements Condition {}

  record Not(Condition part) implements Condition {}

  /** TRUE, FALSE, or null: undecided by what {@code state} knows. */
  default Boolean evaluate(State state) {
    return switch (this) {
      case Test t -> {
        Long a = term(t.left, state);
        Long b = term(t.right, state);
        yield a == null || b == null ? null : (Boolean) t.compare.holds(a, b);
      }
      case All all -> fold(all.parts, state, Boolean.FALSE);
      case Any any -> fold(any.parts, state, Boolean.TRUE);
      case Not not -> {
        Boolean inner = not.part.evaluate(state);
        yield inner == null ? null : (Boolean) !inner;
      }
    };
  }

  /** The memory locations that this condition mentions. */
  default Set<String> locations() {
    Set<String> found = new TreeSet<>();
    collect(this, found);
    return found;
  }

  private static void collect(Condition condition, Set<String> found) {
    switch (condition) {
      case Test t -> {
        for (String term : List.of(t.left, t.right)) {
          if (!isNumber(term) && term.indexOf(':') < 0) {
            found.add(term);
          }
        }
      }
      case All all -> all.parts.forEach(part -> collect(part, found));
      case Any any -> any.parts.forEach(part -> collect(part, found));
      case Not not -> collect(not.part, found);
    }
  }

  private static Boolean fold(List<Condition> parts, State state, Boolean dominant) {
    boolean undecided = false;
    for (Condition part : parts) {
      Boolean value = part.evaluate(state);
      if (dominant.equals(value)) {
        return dominant;
      }
      undecided |= value == null;
    }
    return undecided ? null : (Boolean) !dominant;
  }

  private static Long term(String term, State state) {
    return isNumber(term) ? (Long) Long.parseLong(term) : state.valueOf(term);
  }

  private static boolean isNumber(String term) {
    return Character.isDigit(term.charAt(0)) || term.charAt(0) == '-';
  }
}
