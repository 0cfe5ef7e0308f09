// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads a litmus file: {@code PTX name}, optional quoted remarks and {@code unroll N}, the initial
 * state in braces, one column a thread separated by {@code |} with rows ended by {@code ;}, then
 * {@code ~exists}, {@code exists} or {@code forall} and a condition. {@code //} starts a comment.
 */
final class LitmusParser {
  private static final Pattern HEADER =
      Pattern.compile("(\\w+)\\s*@\\s*cta\\s+(\\d+)\\s*,\\s*gpu\\s+(\\d+)");
  private static final Pattern SHAPE =
      Pattern.compile(
          "\\s*PTX\\s+(\\S+)(.*?)\\{(.*?)\\}\\s*;?(.*?)(~\\s*exists|exists|forall)(.*)",
          Pattern.DOTALL);
  private static final Pattern UNROLL = Pattern.compile("unroll\\s+(\\d+)");

  private LitmusParser() {}

  static Program parse(Path file) throws IOException {
    try {
      return parse(Files.readString(file));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  static Program parse(String source) {
    Matcher shape = SHAPE.matcher(source.replaceAll("//[^\n]*", ""));
    if (!shape.matches()) {
      throw new IllegalArgumentException("not of the form: PTX name { init } threads condition");
    }
    Map<String, Long> memory = new LinkedHashMap<>();
    Map<String, Long> registers = new LinkedHashMap<>();
    for (String part : shape.group(3).split(";")) {
      if (!part.isBlank()) {
        String[] sides = part.split("=");
        String name = sides[0].strip();
        (name.contains(":") ? registers : memory).put(name, Long.parseLong(sides[1].strip()));
      }
    }
    Matcher unroll = UNROLL.matcher(shape.group(2).replaceAll("\"[^\"]*\"", ""));
    return new Program(
        shape.group(1),
        threads(shape.group(4)),
        memory,
        registers,
        switch (shape.group(5)) {
          case "exists" -> Program.Quantifier.SOMETIMES;
          case "forall" -> Program.Quantifier.ALWAYS;
          default -> Program.Quantifier.NEVER;
        },
        new ConditionReader(shape.group(6)).read(),
        unroll.find() ? Integer.parseInt(unroll.group(1)) : 2);
  }

  private static List<Program.Code> threads(String table) {
    String[] rows = table.strip().split(";");
    List<Program.Code> threads = new ArrayList<>();
    for (String cell : rows[0].split("\\|")) {
      Matcher header = HEADER.matcher(cell.strip());
      if (!header.matches()) {
        throw new IllegalArgumentException("not a thread header: " + cell.strip());
      }
      threads.add(
          new Program.Code(
              header.group(1),
              new Scope.Place(Integer.parseInt(header.group(3)), Integer.parseInt(header.group(2))),
              new ArrayList<>()));
    }
    for (int row = 1; row < rows.length; row++) {
      if (rows[row].isBlank()) {
        continue;
      }
      String[] cells = rows[row].split("\\|", -1);
      if (cells.length > threads.size()) {
        throw new IllegalArgumentException("more columns than threads: " + rows[row].strip());
      }
      for (int column = 0; column < cells.length; column++) {
        String text = cells[column].strip();
        if (!text.isEmpty()) {
          threads.get(column).steps().add(new Program.Step(InstructionParser.parse(text), text));
        }
      }
    }
    return threads;
  }

  /** Recursive descent over {@code \/}, {@code /\}, {@code ~}, parentheses and comparisons. */
  private static final class ConditionReader {
    private static final Pattern TOKEN =
        Pattern.compile(
            "\\s*(/\\\\|\\\\/|~|\\(|\\)|==|!=|<=|>=|<|>|=|\\w+\\s*:\\s*%?\\w+|-?\\d+|\\w+)");

    private final List<String> tokens = new ArrayList<>();
    private int next;

    ConditionReader(String text) {
      Matcher matcher = TOKEN.matcher(text);
      int end = 0;
      while (matcher.find() && matcher.start() == end) {
        tokens.add(matcher.group(1).replaceAll("\\s", ""));
        end = matcher.end();
      }
      if (!text.substring(end).isBlank()) {
        throw new IllegalArgumentException("cannot read the condition at: " + text.substring(end));
      }
    }

    Condition read() {
      Condition condition = disjunction();
      if (next != tokens.size()) {
        throw new IllegalArgumentException("unexpected in the condition: " + tokens.get(next));
      }
      return condition;
    }

    private Condition disjunction() {
      List<Condition> parts = new ArrayList<>(List.of(conjunction()));
      while (accept("\\/")) {
        parts.add(conjunction());
      }
      return parts.size() == 1 ? parts.get(0) : new Condition.Any(parts);
    }

    private Condition conjunction() {
      List<Condition> parts = new ArrayList<>(List.of(atom()));
      while (accept("/\\")) {
        parts.add(atom());
      }
      return parts.size() == 1 ? parts.get(0) : new Condition.All(parts);
    }

    private Condition atom() {
      if (accept("~")) {
        return new Condition.Not(atom());
      }
      if (accept("(")) {
        Condition inner = disjunction();
        if (!accept(")")) {
          throw new IllegalArgumentException("missing ) in the condition");
        }
        return inner;
      }
      String left = take();
      Instruction.Compare compare =
          switch (take()) {
            case "=", "==" -> Instruction.Compare.EQ;
            case "!=" -> Instruction.Compare.NE;
            case "<" -> Instruction.Compare.LT;
            case "<=" -> Instruction.Compare.LE;
            case ">" -> Instruction.Compare.GT;
            case ">=" -> Instruction.Compare.GE;
            default -> throw new IllegalArgumentException("expected a comparison after " + left);
          };
      return new Condition.Test(left, compare, take());
    }

    private boolean accept(String token) {
      if (next < tokens.size() && tokens.get(next).equals(token)) {
        next++;
        return true;
      }
      return false;
    }

    private String take() {
      if (next == tokens.size()) {
        throw new IllegalArgumentException("the condition ends too early");
      }
      return tokens.get(next++);
    }
  }
}
