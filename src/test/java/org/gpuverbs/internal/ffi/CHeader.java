// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.ffi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/** The declarations of a C header, found by the conventions that gpuverbs.h keeps. */
record CHeader(Path path, String code) {
  private static final Pattern BLOCK_COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);
  private static final Pattern FUNCTION = Pattern.compile("\\bGV_API\\b[^;(]*?\\b(gv_\\w+)\\s*\\(");
  private static final Pattern STRUCT = Pattern.compile("\\bstruct\\s+(gv_\\w+)\\s*\\{");
  private static final Pattern CONSTANT =
      Pattern.compile("^#define\\s+(GV_\\w+)[ \\t]+[-(0-9].*$", Pattern.MULTILINE);
  private static final Pattern INCLUDE =
      Pattern.compile("^#include\\s+\"(.*)\"", Pattern.MULTILINE);

  /** Reads a header without its comments. */
  static CHeader read(Path path) throws IOException {
    String code = BLOCK_COMMENT.matcher(Files.readString(path)).replaceAll(" ");
    return new CHeader(path, code.replaceAll("//[^\\n]*", " "));
  }

  /** The hash that generate.sh writes: comments and white space don't count. */
  String sha256() throws NoSuchAlgorithmException {
    byte[] text = code.replaceAll("[ \\t\\n\\r\\f\\x0B]+", " ").getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
  }

  List<String> functions() {
    return find(FUNCTION);
  }

  List<String> structs() {
    return find(STRUCT);
  }

  List<String> constants() {
    return find(CONSTANT);
  }

  List<String> includes() {
    return find(INCLUDE);
  }

  private List<String> find(Pattern pattern) {
    return pattern.matcher(code).results().map(match -> match.group(1)).distinct().toList();
  }
}
