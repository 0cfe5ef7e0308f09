// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which ordering step may come right after which, in a path or in a compiled kernel. The order of
 * blocks in the text, unrolled loops and copied code don't matter to it; a step that is moved, lost
 * or added does.
 */
final class StepGraph {
  static final String START = "start";
  static final String END = "end";

  private static final Pattern TAG = Pattern.compile("//\\s*gv:(\\w+)");
  private static final Pattern LABEL = Pattern.compile("([$\\w]+):.*");
  private static final Pattern BRANCH =
      Pattern.compile("(@!?%\\w+\\s+)?bra(?:\\.uni)?\\s+([$\\w]+)\\s*;.*");
  private static final Pattern LEAVE = Pattern.compile("(@!?%\\w+\\s+)?(ret|exit|trap)\\s*;.*");

  /** A place in the code: the step it is, if it is one, and where control may go from it. */
  private static final class Node {
    String step;
    final List<Integer> next = new ArrayList<>();
  }

  private final List<Node> nodes;

  private StepGraph(List<Node> nodes) {
    this.nodes = nodes;
  }

  /** The edges "a -> b" of a path. */
  static Set<String> of(SubmitPath path, StepTable table) {
    List<String> lines =
        path.lines().stream().filter(line -> !line.startsWith(SubmitPath.RESERVE)).toList();
    Map<String, Integer> labels = new HashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).endsWith(":")) {
        labels.put(lines.get(i).substring(0, lines.get(i).length() - 1), i);
      }
    }
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String[] words = lines.get(i).split("[\\s,]+");
      Node node = new Node();
      String target = words[words.length - 1];
      boolean jumps = words[0].matches("goto|may_go|b(eq|ne|lt|le|gt|ge)");
      if (jumps) {
        node.next.add(labels.get(target));
      }
      if (words[0].equals(SubmitPath.GIVES_UP)) {
        node.next.add(lines.size());
      }
      if (!words[0].equals("goto")) {
        node.next.add(i + 1);
      }
      node.step = table.steps().containsKey(words[0]) ? words[0] : null;
      nodes.add(node);
    }
    return new StepGraph(nodes).edges();
  }

  /**
   * The edges "a -> b" of a kernel's PTX, given as the lines of its body. Functions that it calls
   * must hold no step.
   */
  static Set<String> ofPtx(List<String> body) {
    Map<String, Integer> labels = new HashMap<>();
    for (int i = 0; i < body.size(); i++) {
      Matcher label = LABEL.matcher(body.get(i).strip());
      if (label.matches()) {
        labels.put(label.group(1), i);
      }
    }
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < body.size(); i++) {
      String line = body.get(i).strip();
      Node node = new Node();
      Matcher tag = TAG.matcher(line);
      Matcher branch = BRANCH.matcher(line);
      Matcher leave = LEAVE.matcher(line);
      boolean falls = true;
      if (tag.matches()) {
        node.step = tag.group(1);
      } else if (branch.matches()) {
        node.next.add(labels.get(branch.group(2)));
        falls = branch.group(1) != null;
      } else if (leave.matches()) {
        node.next.add(body.size());
        falls = leave.group(1) != null;
      } else if (line.startsWith("brx")) {
        throw new IllegalArgumentException("cannot follow: " + line);
      }
      if (falls) {
        node.next.add(i + 1);
      }
      nodes.add(node);
    }
    return new StepGraph(nodes).edges();
  }

  private Set<String> edges() {
    Set<String> edges = new TreeSet<>();
    follow(START, 0, edges, new HashSet<>());
    for (int i = 0; i < nodes.size(); i++) {
      if (nodes.get(i).step != null) {
        for (int next : nodes.get(i).next) {
          follow(nodes.get(i).step, next, edges, new HashSet<>());
        }
      }
    }
    // Who has nothing to do, or is no leader, leaves at once.
    edges.remove(edge(START, END));
    return edges;
  }

  private void follow(String from, int at, Set<String> edges, Set<Integer> seen) {
    if (at >= nodes.size()) {
      edges.add(edge(from, END));
    } else if (nodes.get(at).step != null) {
      edges.add(edge(from, nodes.get(at).step));
    } else if (seen.add(at)) {
      for (int next : nodes.get(at).next) {
        follow(from, next, edges, seen);
      }
    }
  }

  static String edge(String from, String to) {
    return from + " -> " + to;
  }
}
