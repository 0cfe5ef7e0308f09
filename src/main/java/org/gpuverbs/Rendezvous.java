// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.gpuverbs.internal.rendezvous.Connector;
import org.gpuverbs.internal.rendezvous.Hello;
import org.gpuverbs.internal.rendezvous.RendezvousListener;
import org.gpuverbs.internal.rendezvous.Settings;

/**
 * Carries small records, such as {@link QueuePairAddress} and {@link RemoteMemory}, between
 * processes over TCP: between two {@linkplain Peer peers}, or among the ranks of a {@linkplain
 * Group group}.
 *
 * <p>Both sides prove that they know the same secret (HMAC-SHA256 over both nonces, the protocol
 * version, the roles and the ranks), and every record after that carries a MAC with a sequence
 * number; the secret never travels. Records are authenticated, not encrypted. Without a secret only
 * loopback addresses are accepted, unless {@link Options#insecure()} is asked for by name. Whoever
 * fails the proof is dropped and logged, and does not disturb the peer that is waited for.
 *
 * <p>Every wait ends at {@link Options#timeout}; then, and for any input that is malformed,
 * oversized, late or not authenticated, {@link RdmaException} says what happened and what to do.
 * The methods block; they release the carrier of a virtual thread, and interrupting a virtual
 * thread ends them.
 *
 * {@snippet :
 * // process A                                            // process B
 * var peer = Rendezvous.accept(address, options);         var peer = Rendezvous.connect(address, options);
 * var theirs = peer.exchange(qp.address().toBytes());     var theirs = peer.exchange(qp.address().toBytes());
 * qp.connect(QueuePairAddress.fromBytes(theirs));         qp.connect(QueuePairAddress.fromBytes(theirs));
 * }
 *
 * <p>An instance is the listening side: it keeps its port until it is closed, so that port 0 (any
 * free port) can be used and many peers accepted. Any thread may use it.
 */
public final class Rendezvous implements AutoCloseable {
  /** The longest record, in bytes. */
  public static final int MAX_RECORD = 64 * 1024;

  /** The most ranks in a group. */
  public static final int MAX_RANKS = 4096;

  private final RendezvousListener listener;

  private Rendezvous(RendezvousListener listener) {
    this.listener = listener;
  }

  /**
   * Listens.
   *
   * @param address where; port 0 takes a free one, told by {@link #address()}
   * @param options secret and timeout
   * @return the listening side
   * @throws IllegalArgumentException if there is no secret and the address is not loopback
   * @throws RdmaException if the address can't be listened on
   */
  public static Rendezvous listen(InetSocketAddress address, Options options) {
    return new Rendezvous(new RendezvousListener(address, options.settings));
  }

  /**
   * Listens, accepts one peer and stops listening.
   *
   * @param address where to listen
   * @param options secret and timeout
   * @return the first peer that proves it knows the secret
   * @throws IllegalArgumentException if there is no secret and the address is not loopback
   * @throws RdmaException if nobody came in time, or the address can't be listened on
   */
  public static Peer accept(InetSocketAddress address, Options options) {
    try (RendezvousListener listener = new RendezvousListener(address, options.settings)) {
      return listener.acceptOnly();
    }
  }

  /**
   * Connects to a peer that listens, or will within the timeout.
   *
   * @param address where it listens
   * @param options secret and timeout
   * @return the peer, which has proved that it knows the secret
   * @throws IllegalArgumentException if there is no secret and the address is not loopback
   * @throws RdmaException if nobody answered in time, or the other side is a stranger, another
   *     version or has another secret
   */
  public static Peer connect(InetSocketAddress address, Options options) {
    return Connector.peer(address, options.settings);
  }

  /**
   * Joins a group: rank 0 listens at the address, the others connect to it. Returns when all are
   * there.
   *
   * @param address where rank 0 listens
   * @param rank this process's rank, 0..size-1
   * @param size ranks in the group, 1..{@value #MAX_RANKS}; the same for all
   * @param options secret and timeout
   * @return the group
   * @throws IllegalArgumentException if rank or size is out of range, or there is no secret and the
   *     address is not loopback
   * @throws RdmaException if the group was not complete in time, or this rank was refused: the rank
   *     is taken, the size differs, or as for {@link #connect}
   */
  public static Group group(InetSocketAddress address, int rank, int size, Options options) {
    Hello.checkRank(rank, size);
    if (rank != 0) {
      return Connector.member(address, rank, size, options.settings);
    }
    try (RendezvousListener listener = new RendezvousListener(address, options.settings)) {
      return listener.group(size);
    }
  }

  /**
   * Where this side listens.
   *
   * @return the address, with the port that was taken
   */
  public InetSocketAddress address() {
    return listener.address();
  }

  /**
   * Waits for the next peer that proves it knows the secret.
   *
   * @return the peer
   * @throws RdmaException if nobody came in time
   * @throws IllegalStateException if this is closed, or {@link #group} was called on it
   */
  public Peer accept() {
    return listener.accept();
  }

  /**
   * Gathers a group as its rank 0; the others use {@link #group(InetSocketAddress, int, int,
   * Options)}. Once only.
   *
   * @param size ranks in the group, 1..{@value #MAX_RANKS}
   * @return the group, when all are there
   * @throws RdmaException if the group was not complete in time; the message names the missing
   *     ranks
   * @throws IllegalStateException if this is closed, or {@link #accept} or this method was called
   *     on it
   */
  public Group group(int size) {
    return listener.group(size);
  }

  /** Stops listening; ends waiting calls. Peers and groups stay open. Closing twice is fine. */
  @Override
  public void close() {
    listener.close();
  }

  /** The other side of a pair. One thread at a time may exchange; any thread may close. */
  public interface Peer extends AutoCloseable {
    /**
     * Sends a record and receives the other side's, which must call this too. An exchange that
     * fails closes the peer.
     *
     * @param record 0..{@value #MAX_RECORD} bytes; copied
     * @return the other side's record
     * @throws IllegalArgumentException if the record is longer
     * @throws IllegalStateException if this is closed, or another thread is exchanging
     * @throws RdmaException if the other side did not answer in time, closed, or sent what it
     *     should not
     */
    byte[] exchange(byte[] record);

    /**
     * Where the other side is.
     *
     * @return its TCP address
     */
    InetSocketAddress remote();

    /** Closes the connection; ends an exchange on another thread. Closing twice is fine. */
    @Override
    void close();
  }

  /** All the ranks. One thread at a time may exchange; any thread may close. */
  public interface Group extends AutoCloseable {
    /**
     * This process's rank.
     *
     * @return 0..size-1
     */
    int rank();

    /**
     * Ranks in the group.
     *
     * @return the size given by all
     */
    int size();

    /**
     * Sends this rank's record to all and receives theirs; all ranks must call it. With empty
     * records it is a barrier. An exchange that fails closes the group.
     *
     * @param record 0..{@value #MAX_RECORD} bytes; copied
     * @return the records by rank, this rank's own included
     * @throws IllegalArgumentException if the record is longer
     * @throws IllegalStateException if this is closed, or another thread is exchanging
     * @throws RdmaException if a rank did not answer in time, closed, or sent what it should not;
     *     the message names it
     */
    List<byte[]> exchange(byte[] record);

    /** Closes the connections; ends an exchange on another thread. Closing twice is fine. */
    @Override
    void close();
  }

  /** Secret and timeout of a rendezvous. Immutable; any thread. */
  public static final class Options {
    /**
     * The shortest secret, in bytes: a shorter one could be guessed from one recorded handshake.
     */
    public static final int MIN_SECRET = 16;

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

    private final Settings settings;

    private Options(Settings settings) {
      this.settings = settings;
    }

    /**
     * With a shared secret, for any address. The timeout is 30 s.
     *
     * @param secret at least {@value #MIN_SECRET} bytes that can't be guessed ({@link
     *     #newSecret()}), not a password; copied
     * @return the options
     * @throws IllegalArgumentException if the secret is shorter
     */
    public static Options secret(byte[] secret) {
      if (secret.length < MIN_SECRET) {
        throw new IllegalArgumentException(
            "secret of %d bytes: use at least %d random ones, such as Rendezvous.Options.newSecret()"
                .formatted(secret.length, MIN_SECRET));
      }
      return new Options(new Settings(secret.clone(), false, DEFAULT_TIMEOUT));
    }

    /**
     * Without a secret, for loopback addresses only: every process of this machine can take part.
     * The timeout is 30 s.
     *
     * @return the options
     */
    public static Options loopback() {
      return new Options(new Settings(null, false, DEFAULT_TIMEOUT));
    }

    /**
     * Without a secret, for any address: whoever reaches the port can take part, and so reach
     * registered memory. For closed networks. The timeout is 30 s.
     *
     * @return the options
     */
    public static Options insecure() {
      return new Options(new Settings(null, true, DEFAULT_TIMEOUT));
    }

    /**
     * These options with another timeout: the total for each of accept, connect, group and
     * exchange.
     *
     * @param timeout more than zero, at most a day
     * @return the options
     * @throws IllegalArgumentException if it is out of range
     */
    public Options timeout(Duration timeout) {
      Objects.requireNonNull(timeout, "timeout");
      if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(Duration.ofDays(1)) > 0) {
        throw new IllegalArgumentException(
            "timeout of %s: use more than zero and at most a day".formatted(timeout));
      }
      return new Options(settings.withTimeout(timeout));
    }

    /**
     * A new secret, to be handed to the other processes by a channel that is private already (ssh,
     * a mounted secret).
     *
     * @return 32 random bytes
     */
    public static byte[] newSecret() {
      byte[] secret = new byte[32];
      new SecureRandom().nextBytes(secret);
      return secret;
    }
  }
}
