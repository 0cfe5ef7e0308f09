// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.gpuverbs.Rendezvous;

/**
 * The first message of each side. Its prefix (magic, version, length of the rest) stays the same in
 * all versions, so that two versions can name each other.
 *
 * <pre>
 *  0  8  magic "GPUVRDZV"
 *  8  2  version
 * 10  2  bytes that follow
 * 12  1  flags: 1 the sender has a secret
 * 13  1  kind: 1 pair, 2 group
 * 14  2  zero
 * 16  4  rank (pair: listener 0, connector 1)
 * 20  4  size (pair: 2)
 * 24 32  nonce
 * </pre>
 */
public record Hello(boolean secret, Kind kind, int rank, int size, byte[] nonce) {
  static final int VERSION = 1;
  static final int NONCE = 32;
  static final int PREFIX = 12;
  static final int BYTES = 56;

  private static final byte[] MAGIC = "GPUVRDZV".getBytes(StandardCharsets.US_ASCII);
  private static final int FLAG_SECRET = 1;

  /** A later version's hello may be longer; more than this is no hello. */
  private static final int MAX_BODY = 4096;

  enum Kind {
    PAIR,
    GROUP;

    int code() {
      return ordinal() + 1;
    }
  }

  static Hello pair(boolean secret, int rank) {
    return new Hello(secret, Kind.PAIR, rank, 2, Secrets.nonce());
  }

  static Hello group(boolean secret, int rank, int size) {
    return new Hello(secret, Kind.GROUP, rank, size, Secrets.nonce());
  }

  /** Refuses a rank or size that no group can have. */
  public static void checkRank(int rank, int size) {
    if (size < 1 || size > Rendezvous.MAX_RANKS) {
      throw new IllegalArgumentException(
          "group of %d ranks: use 1..%d".formatted(size, Rendezvous.MAX_RANKS));
    }
    if (rank < 0 || rank >= size) {
      throw new IllegalArgumentException(
          "rank %d in a group of %d: use 0..%d".formatted(rank, size, size - 1));
    }
  }

  byte[] toBytes() {
    return ByteBuffer.allocate(BYTES)
        .put(MAGIC)
        .putShort((short) VERSION)
        .putShort((short) (BYTES - PREFIX))
        .put((byte) (secret ? FLAG_SECRET : 0))
        .put((byte) kind.code())
        .putShort((short) 0)
        .putInt(rank)
        .putInt(size)
        .put(nonce)
        .array();
  }

  /**
   * Reads a hello, or says why these bytes are none. The magic is judged as soon as it is there.
   */
  static Hello read(Wire wire, Deadline deadline) throws IOException {
    byte[] magic = wire.read(MAGIC.length, deadline);
    if (!Arrays.equals(magic, MAGIC)) {
      throw new StrangerException("its first bytes are no rendezvous");
    }
    ByteBuffer prefix = ByteBuffer.wrap(wire.read(PREFIX - MAGIC.length, deadline));
    int version = Short.toUnsignedInt(prefix.getShort());
    int length = Short.toUnsignedInt(prefix.getShort());
    if (length > MAX_BODY) {
      throw new StrangerException("its hello announces %d bytes".formatted(length));
    }
    ByteBuffer body = ByteBuffer.wrap(wire.read(length, deadline));
    if (version != VERSION) {
      throw new VersionException(version);
    }
    if (length != BYTES - PREFIX) {
      throw new StrangerException("its hello has %d bytes".formatted(length));
    }
    return parse(body);
  }

  private static Hello parse(ByteBuffer body) throws StrangerException {
    int flags = body.get();
    int kind = body.get();
    int zero = body.getShort();
    int rank = body.getInt();
    int size = body.getInt();
    byte[] nonce = new byte[NONCE];
    body.get(nonce);
    boolean sane =
        (flags & ~FLAG_SECRET) == 0
            && (kind == Kind.PAIR.code() || kind == Kind.GROUP.code())
            && zero == 0
            && size >= 1
            && size <= Rendezvous.MAX_RANKS
            && rank >= 0
            && rank < size
            && (kind != Kind.PAIR.code() || size == 2);
    if (!sane) {
      throw new StrangerException("its hello has fields out of range");
    }
    return new Hello((flags & FLAG_SECRET) != 0, Kind.values()[kind - 1], rank, size, nonce);
  }
}
