// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Who was let in and not yet handed to a caller. Guarded by the listener's lock. */
abstract sealed class Lobby {
  /** The hello that this side answers with. */
  abstract Hello hello(boolean secret);

  /** Keeps a place for a connector that proved itself, or says why there is none. */
  abstract Verdict reserve(Hello theirs);

  /** Gives the place back: the connection broke before it could be told. */
  abstract void release(Hello theirs);

  abstract void enter(Hello theirs, Frames frames);

  abstract String what();

  /** Closes those that nobody took. */
  abstract void close();

  /** Peers, one after the other. */
  static final class Pairs extends Lobby {
    /** Peers that nobody took yet; without a secret anybody could pile them up. */
    private static final int MAX_WAITING = 1024;

    private final int limit;
    private final ArrayDeque<Frames> waiting = new ArrayDeque<>();
    private int reserved;

    /** At most `limit` peers ever. */
    Pairs(int limit) {
      this.limit = limit;
    }

    @Nullable Frames next() {
      return waiting.poll();
    }

    @Override
    Hello hello(boolean secret) {
      return Hello.pair(secret, 0);
    }

    @Override
    Verdict reserve(Hello theirs) {
      if (reserved >= limit || waiting.size() >= MAX_WAITING) {
        return Verdict.FULL;
      }
      reserved++;
      return Verdict.WELCOME;
    }

    @Override
    void release(Hello theirs) {
      reserved--;
    }

    @Override
    void enter(Hello theirs, Frames frames) {
      waiting.add(frames);
    }

    @Override
    String what() {
      return "peers";
    }

    @Override
    void close() {
      waiting.forEach(Frames::close);
      waiting.clear();
    }
  }

  /** The ranks of one group. */
  static final class Ranks extends Lobby {
    private final boolean[] reserved;
    private final @Nullable Frames[] members;
    private int entered = 1;

    Ranks(int size) {
      reserved = new boolean[size];
      reserved[0] = true;
      members = new Frames[size];
    }

    boolean complete() {
      return entered == members.length;
    }

    /** All members, once complete; from then on they belong to the caller. */
    @Nullable Frames[] members() {
      return members;
    }

    String missing() {
      List<String> ranks = new ArrayList<>();
      for (int rank = 1; rank < members.length; rank++) {
        if (members[rank] == null) {
          ranks.add(Integer.toString(rank));
        }
      }
      String shown = ranks.stream().limit(16).collect(Collectors.joining(", "));
      String rest = ranks.size() > 16 ? " and %d more".formatted(ranks.size() - 16) : "";
      return (ranks.size() == 1 ? "rank " : "ranks ") + shown + rest;
    }

    @Override
    Hello hello(boolean secret) {
      return Hello.group(secret, 0, members.length);
    }

    @Override
    Verdict reserve(Hello theirs) {
      if (reserved[theirs.rank()]) {
        return Verdict.RANK_TAKEN;
      }
      reserved[theirs.rank()] = true;
      return Verdict.WELCOME;
    }

    @Override
    void release(Hello theirs) {
      reserved[theirs.rank()] = false;
    }

    @Override
    void enter(Hello theirs, Frames frames) {
      members[theirs.rank()] = frames;
      entered++;
    }

    @Override
    String what() {
      return "one group of %d ranks".formatted(members.length);
    }

    @Override
    void close() {
      if (complete()) {
        return;
      }
      for (Frames member : members) {
        if (member != null) {
          member.close();
        }
      }
    }
  }
}
