// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How two sides come to trust each other.
 *
 * <pre>
 * connector                         listener
 *   hello            -->
 *                    <--  hello
 *   proof            -->                     HMAC(secret, "connector" | both hellos)
 *                    <--  verdict, proof     HMAC(secret, "listener" | verdict | both hellos)
 *   frames          <-->  frames             see {@link Frames}
 * </pre>
 *
 * <p>The hellos hold version, roles, ranks and nonces, so a proof is good for this connection only;
 * the labels keep one side's proof from being played back to it. The connector proves first: a
 * listener tells nothing to somebody who only knocks.
 */
final class Handshake {
  private static final String LABEL = "gpuverbs rendezvous 1 ";

  private Handshake() {}

  /** What a listener knows of a connector that proved itself, before it is answered. */
  record Admitted(Hello theirs, Frames frames) {}

  /**
   * The listener's side.
   *
   * @param admission asked once the proof is good; answers WELCOME, or why not
   * @throws StrangerException if the connection must be dropped, with the reason
   */
  static Admitted listen(
      Wire wire,
      Hello mine,
      Settings settings,
      Deadline deadline,
      Function<Hello, Verdict> admission)
      throws IOException {
    Hello theirs;
    try {
      theirs = Hello.read(wire, deadline);
    } catch (VersionException e) {
      // Its prefix is the same in all versions, so the connector can name the two.
      wire.write(mine.toBytes());
      throw e;
    }
    wire.write(mine.toBytes());
    String mismatch = mismatch(mine, theirs);
    if (mismatch != null) {
      throw new StrangerException(mismatch);
    }
    byte[] transcript = transcript(theirs, mine);
    byte[] key = Secrets.keyOf(settings.secret());
    byte[] proof = wire.read(Secrets.MAC, deadline);
    Verdict verdict =
        Secrets.same(proof, Secrets.mac(key, LABEL + "connector", transcript))
            ? admission.apply(theirs)
            : Verdict.WRONG_SECRET;
    wire.write(answer(verdict, key, transcript));
    if (verdict != Verdict.WELCOME) {
      throw new StrangerException(verdict.reason());
    }
    return new Admitted(theirs, frames(wire, key, transcript, false));
  }

  /**
   * The connector's side.
   *
   * @throws StrangerException if the other side is no rendezvous of this version, or has another
   *     secret
   * @throws RefusedException if the other side is the right one and does not want this one
   */
  static Frames connect(Wire wire, Hello mine, Settings settings, Deadline deadline)
      throws IOException {
    wire.write(mine.toBytes());
    Hello theirs = Hello.read(wire, deadline);
    String mismatch = mismatch(mine, theirs);
    if (mismatch != null) {
      throw new RefusedException(mismatch);
    }
    byte[] transcript = transcript(mine, theirs);
    byte[] key = Secrets.keyOf(settings.secret());
    wire.write(Secrets.mac(key, LABEL + "connector", transcript));
    byte[] answer = wire.read(1 + Secrets.MAC, deadline);
    int code = Byte.toUnsignedInt(answer[0]);
    if (code >= Verdict.values().length) {
      throw new StrangerException("its answer has the unknown code " + code);
    }
    Verdict verdict = Verdict.values()[code];
    if (verdict == Verdict.WRONG_SECRET) {
      throw new SecretException("it refused this side's proof");
    }
    if (!Secrets.same(answer, answer(verdict, key, transcript))) {
      throw new SecretException("it did not prove that it knows the secret");
    }
    if (verdict == Verdict.RANK_TAKEN) {
      throw new RefusedException(
          "rank %d is taken: give every process its own rank".formatted(mine.rank()));
    }
    if (verdict == Verdict.FULL) {
      // As if nobody listened, which is so in a moment; whoever listens there next may want this
      // side.
      throw new IOException("it has its peer already");
    }
    return frames(wire, key, transcript, true);
  }

  /** Why two sides can't work together, or null. Told by both, each to its own user. */
  private static @Nullable String mismatch(Hello mine, Hello theirs) {
    if (mine.secret() != theirs.secret()) {
      return mine.secret()
          ? "it has no secret and this side has: give both the same"
          : "it has a secret and this side has none: give both the same";
    }
    if (mine.kind() != theirs.kind()) {
      return "it is part of a %s and this side of a %s".formatted(name(theirs), name(mine));
    }
    if (mine.size() != theirs.size()) {
      return "its group has %d ranks and this side's %d".formatted(theirs.size(), mine.size());
    }
    if ((mine.rank() == 0) == (theirs.rank() == 0)) {
      return "its role is this side's own";
    }
    return null;
  }

  private static String name(Hello hello) {
    return hello.kind() == Hello.Kind.PAIR ? "pair" : "group";
  }

  private static byte[] transcript(Hello connector, Hello listener) {
    byte[] both = new byte[2 * Hello.BYTES];
    System.arraycopy(connector.toBytes(), 0, both, 0, Hello.BYTES);
    System.arraycopy(listener.toBytes(), 0, both, Hello.BYTES, Hello.BYTES);
    return both;
  }

  private static byte[] answer(Verdict verdict, byte[] key, byte[] transcript) {
    byte[] answer = new byte[1 + Secrets.MAC];
    answer[0] = (byte) verdict.ordinal();
    if (verdict != Verdict.WRONG_SECRET) {
      byte[] proof = Secrets.mac(key, LABEL + "listener", new byte[] {answer[0]}, transcript);
      System.arraycopy(proof, 0, answer, 1, Secrets.MAC);
    }
    return answer;
  }

  private static Frames frames(Wire wire, byte[] key, byte[] transcript, boolean connector) {
    byte[] out = Secrets.mac(key, LABEL + "frames of the connector", transcript);
    byte[] in = Secrets.mac(key, LABEL + "frames of the listener", transcript);
    return connector ? new Frames(wire, out, in) : new Frames(wire, in, out);
  }
}
