// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

/** One instruction of a litmus program. Addresses are static: a location is a name. */
sealed interface Instruction {
  record Load(String register, String location, Order order, Scope scope) implements Instruction {}

  record Store(String location, Operand value, Order order, Scope scope) implements Instruction {}

  /**
   * {@code atom}, or {@code red} when {@code register} is empty. For CAS {@code a} is the comparand
   * and {@code b} the new value; for the others {@code a} is the operand and {@code b} is unused.
   */
  record Atom(
      Rmw op, String register, String location, Operand a, Operand b, Order order, Scope scope)
      implements Instruction {
    boolean reduction() {
      return register.isEmpty();
    }
  }

  record Fence(Order order, Scope scope) implements Instruction {}

  record Local(Alu op, String register, Operand a, Operand b) implements Instruction {}

  record Branch(Compare compare, Operand a, Operand b, String label) implements Instruction {}

  record Label(String name) implements Instruction {}

  /** What an atomic operation writes, given what it read. */
  enum Rmw {
    CAS,
    EXCH,
    ADD,
    SUB,
    AND,
    OR,
    XOR,
    MAX,
    MIN;

    /** The value written; CAS is asked only when it succeeds. */
    long apply(long old, long a, long b) {
      return switch (this) {
        case CAS -> b;
        case EXCH -> a;
        case ADD -> old + a;
        case SUB -> old - a;
        case AND -> old & a;
        case OR -> old | a;
        case XOR -> old ^ a;
        case MAX -> Math.max(old, a);
        case MIN -> Math.min(old, a);
      };
    }
  }

  /**
   * Arithmetic between registers. CTO counts trailing ones: how the bitmap's scan finds the next
   * gap.
   */
  enum Alu {
    MOV,
    ADD,
    SUB,
    MUL,
    DIV,
    AND,
    OR,
    XOR,
    SHL,
    SHR,
    MAX,
    CTO;

    long apply(long a, long b) {
      return switch (this) {
        case MOV -> a;
        case ADD -> a + b;
        case SUB -> a - b;
        case MUL -> a * b;
        case DIV -> b == 0 ? 0 : a / b;
        case AND -> a & b;
        case OR -> a | b;
        case XOR -> a ^ b;
        case SHL -> a << b;
        case SHR -> a >>> b;
        case MAX -> Math.max(a, b);
        case CTO -> Long.numberOfTrailingZeros(~a);
      };
    }
  }

  /** Conditions of a branch. */
  enum Compare {
    ALWAYS,
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE;

    boolean holds(long a, long b) {
      return switch (this) {
        case ALWAYS -> true;
        case EQ -> a == b;
        case NE -> a != b;
        case LT -> a < b;
        case LE -> a <= b;
        case GT -> a > b;
        case GE -> a >= b;
      };
    }
  }
}
