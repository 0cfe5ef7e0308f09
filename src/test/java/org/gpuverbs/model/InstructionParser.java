// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads one PTX instruction. Qualifiers may come in any order, so that both the litmus spelling
 * ({@code atom.relaxed.gpu.cas}) and real PTX ({@code atom.relaxed.gpu.global.cas.b64 r, [x], a,
 * b;}) are read; state space, type and cache hints say nothing about ordering and are skipped.
 */
final class InstructionParser {
  private static final Pattern REGISTER = Pattern.compile("%?r\\d+");
  private static final Pattern NUMBER = Pattern.compile("-?\\d+");
  private static final Pattern IGNORED =
      Pattern.compile("global|shared|generic|[ubsf](8|16|32|64|128)|v[248]|L[12]::\\w+|uni");
  private static final Set<String> ALU =
      Set.of("mov", "add", "sub", "mul", "div", "and", "or", "xor", "shl", "shr", "max", "cto");

  private InstructionParser() {}

  static boolean isRegister(String token) {
    return REGISTER.matcher(token).matches();
  }

  static Instruction parse(String text) {
    String line = text.strip().replaceAll(";$", "").strip();
    if (line.endsWith(":")) {
      return new Instruction.Label(line.substring(0, line.length() - 1).strip());
    }
    int space = line.indexOf(' ');
    String mnemonic = space < 0 ? line : line.substring(0, space);
    List<String> operands =
        space < 0
            ? List.of()
            : List.of(
                line.substring(space + 1).replaceAll("[\\[\\]]", "").strip().split("\\s*,\\s*"));
    String[] parts = mnemonic.split("\\.");
    return switch (parts[0]) {
      case "ld" -> load(new Qualifiers(parts, text), operands, text);
      case "st" -> store(new Qualifiers(parts, text), operands, text);
      case "atom", "red" -> atom(parts[0], new Qualifiers(parts, text), operands, text);
      case "fence", "membar" -> fence(parts[0], new Qualifiers(parts, text));
      case "goto", "bra" ->
          new Instruction.Branch(
              Instruction.Compare.ALWAYS, constant("0"), constant("0"), operands.get(0));
      case "beq", "bne", "blt", "ble", "bgt", "bge" -> {
        need(operands, 3, text);
        yield new Instruction.Branch(
            Instruction.Compare.valueOf(parts[0].substring(1).toUpperCase(Locale.ROOT)),
            operand(operands.get(0)),
            operand(operands.get(1)),
            operands.get(2));
      }
      default -> local(parts[0], operands, text);
    };
  }

  private static Instruction load(Qualifiers q, List<String> operands, String text) {
    need(operands, 2, text);
    String source = operands.get(1);
    if (NUMBER.matcher(source).matches() || isRegister(source)) {
      return new Instruction.Local(
          Instruction.Alu.MOV, operands.get(0), operand(source), constant("0"));
    }
    return new Instruction.Load(operands.get(0), source, q.order, q.memoryScope());
  }

  private static Instruction store(Qualifiers q, List<String> operands, String text) {
    need(operands, 2, text);
    return new Instruction.Store(
        operands.get(0), operand(operands.get(1)), q.order, q.memoryScope());
  }

  private static Instruction atom(String kind, Qualifiers q, List<String> operands, String text) {
    if (q.rmw == null) {
      throw new IllegalArgumentException("no operation in: " + text);
    }
    // "If the .sem qualifier is absent, .relaxed is assumed; if .scope is absent, .gpu" (PTX ISA,
    // atom).
    Order order = q.order == Order.WEAK ? Order.RELAXED : q.order;
    Scope scope = q.scope == null ? Scope.GPU : q.scope;
    boolean reduction = kind.equals("red");
    int first = reduction ? 0 : 1;
    need(operands, first + (q.rmw == Instruction.Rmw.CAS ? 3 : 2), text);
    return new Instruction.Atom(
        q.rmw,
        reduction ? "" : operands.get(0),
        operands.get(first),
        operand(operands.get(first + 1)),
        q.rmw == Instruction.Rmw.CAS ? operand(operands.get(first + 2)) : constant("0"),
        order,
        scope);
  }

  private static Instruction fence(String kind, Qualifiers q) {
    // membar.{cta,gl,sys} is a synonym of fence.sc.{cta,gpu,sys} from sm_70; fence without .sem is
    // .acq_rel.
    Order order =
        kind.equals("membar") ? Order.SC : q.order == Order.WEAK ? Order.ACQ_REL : q.order;
    return new Instruction.Fence(order, q.scope);
  }

  private static Instruction local(String name, List<String> operands, String text) {
    if (!ALU.contains(name)) {
      throw new IllegalArgumentException("unknown instruction: " + text);
    }
    return new Instruction.Local(
        Instruction.Alu.valueOf(name.toUpperCase(Locale.ROOT)),
        operands.get(0),
        operand(operands.get(1)),
        operands.size() > 2 ? operand(operands.get(2)) : constant("0"));
  }

  private static Operand operand(String token) {
    return isRegister(token) ? new Operand.Register(token) : constant(token);
  }

  private static Operand constant(String token) {
    return new Operand.Constant(Long.parseLong(token));
  }

  private static void need(List<String> operands, int count, String text) {
    if (operands.size() != count) {
      throw new IllegalArgumentException("expected " + count + " operands in: " + text);
    }
  }

  /** The dot-separated qualifiers of a memory instruction or fence. */
  private static final class Qualifiers {
    Order order = Order.WEAK;
    Scope scope;
    Instruction.Rmw rmw;

    Qualifiers(String[] parts, String text) {
      for (int i = 1; i < parts.length; i++) {
        String part = parts[i];
        switch (part) {
          case "weak" -> order = Order.WEAK;
          case "relaxed", "acquire", "release", "acq_rel", "sc" ->
              order = Order.valueOf(part.toUpperCase(Locale.ROOT));
          case "volatile", "mmio" -> {
            order = order == Order.WEAK ? Order.RELAXED : order;
            scope = Scope.SYS;
          }
          case "cta", "gpu", "sys" -> scope = Scope.valueOf(part.toUpperCase(Locale.ROOT));
          case "gl" -> scope = Scope.GPU;
          case "cas", "exch", "add", "sub", "and", "or", "xor", "max", "min" ->
              rmw = Instruction.Rmw.valueOf(part.toUpperCase(Locale.ROOT));
          default -> {
            if (!IGNORED.matcher(part).matches()) {
              throw new IllegalArgumentException("unknown qualifier ." + part + " in: " + text);
            }
          }
        }
      }
      if (order == Order.WEAK && rmw == null && !parts[0].equals("membar")) {
        return;
      }
      if (scope == null && rmw == null) {
        throw new IllegalArgumentException("no scope in: " + text);
      }
    }

    /**
     * A weak operation is morally strong with its own thread only; its scope is never asked for.
     */
    Scope memoryScope() {
      return scope == null ? Scope.CTA : scope;
    }
  }
}
