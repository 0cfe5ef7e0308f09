// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import static org.gpuverbs.internal.rendezvous.Parties.async;
import static org.gpuverbs.internal.rendezvous.Parties.get;
import static org.gpuverbs.internal.rendezvous.Parties.listen;
import static org.gpuverbs.internal.rendezvous.Parties.secret;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Rendezvous;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bytes changed on their way, and bytes that were never right. */
@Timeout(120)
class TamperTest {
  private static final int PROOF = 32;
  private static final int ANSWER = 33;
  private static final int HEADER = 5;
  private static final Duration BRIEF = Duration.ofMillis(1500);

  /** Whether a handshake over this relay lets both sides in. */
  private static boolean bothGetIn(Duration timeout, Relay.Tamper tamper) throws IOException {
    try (RendezvousListener listener =
            new RendezvousListener(Parties.anyPort(), Parties.settings(timeout));
        Relay relay = new Relay(listener.address(), tamper)) {
      var accepted = async(listener::accept);
      var connected = async(() -> Connector.peer(relay.address(), Parties.settings(timeout)));
      boolean in = succeeds(accepted) & succeeds(connected);
      return in;
    }
  }

  private static boolean succeeds(CompletableFuture<Rendezvous.Peer> side) {
    try {
      side.join().close();
      return true;
    } catch (CompletionException e) {
      assertTrue(e.getCause() instanceof RdmaException, "unexpected: " + e.getCause());
      return false;
    }
  }

  @Test
  void anUnchangedHandshakeLetsBothIn() throws Exception {
    assertTrue(bothGetIn(Parties.PATIENCE, (side, offset, chunk) -> chunk));
  }

  @Test
  void aHandshakeWithAnyByteChangedFails() throws Exception {
    List<CompletableFuture<String>> attempts = new ArrayList<>();
    for (boolean fromConnector : new boolean[] {true, false}) {
      int length = Hello.BYTES + (fromConnector ? PROOF : ANSWER);
      for (int at = 0; at < length; at++) {
        int where = at;
        attempts.add(
            async(
                () ->
                    bothGetIn(BRIEF, Relay.flip(fromConnector, where, 1 << (where % 8)))
                        ? "%s %d".formatted(fromConnector, where)
                        : ""));
      }
    }
    List<String> letIn = attempts.stream().map(Parties::get).filter(s -> !s.isEmpty()).toList();
    assertTrue(letIn.isEmpty(), "bytes that nobody noticed: " + letIn);
  }

  /**
   * Two sides over a relay whose frames from the connector go through the tamper, offsets counted
   * after the handshake.
   */
  private static RdmaException exchangeOver(Relay.Tamper tamper) throws IOException {
    long handshake = Hello.BYTES + PROOF;
    Relay.Tamper frames =
        (side, offset, chunk) ->
            side && offset >= handshake ? tamper.change(true, offset - handshake, chunk) : chunk;
    try (Rendezvous rendezvous = listen();
        Relay relay = new Relay(rendezvous.address(), frames)) {
      var other = async(() -> Rendezvous.connect(relay.address(), secret()));
      try (var a = rendezvous.accept();
          var b = get(other)) {
        async(() -> b.exchange(new byte[] {1, 2, 3}));
        return assertThrows(RdmaException.class, () -> a.exchange(new byte[] {4}));
      }
    }
  }

  @Test
  void aRecordWithAnyByteChangedIsRefused() throws Exception {
    for (int at = 4; at < HEADER + 3 + PROOF; at++) {
      RdmaException e = exchangeOver(Relay.flip(true, at, 0x40));
      assertTrue(e.getMessage().contains("changed or made by somebody else"), e.getMessage());
    }
  }

  @Test
  void anOversizedRecordIsRefusedBeforeItIsRead() throws Exception {
    RdmaException e = exchangeOver(Relay.flip(true, 0, 0x80));
    assertTrue(e.getMessage().contains("65536 is the most"), e.getMessage());
  }

  @Test
  void aRepeatedRecordIsRefused() throws Exception {
    try (Rendezvous rendezvous = listen();
        Relay relay =
            new Relay(
                rendezvous.address(),
                (side, offset, chunk) -> {
                  if (!side || offset < Hello.BYTES + PROOF) {
                    return chunk;
                  }
                  byte[] twice = Arrays.copyOf(chunk, 2 * chunk.length);
                  System.arraycopy(chunk, 0, twice, chunk.length, chunk.length);
                  return twice;
                })) {
      var other = async(() -> Rendezvous.connect(relay.address(), secret()));
      try (var a = rendezvous.accept();
          var b = get(other)) {
        var reply = async(() -> b.exchange(new byte[] {1}));
        a.exchange(new byte[] {2});
        get(reply);
        var e = assertThrows(RdmaException.class, () -> a.exchange(new byte[] {2}));
        assertTrue(e.getMessage().contains("changed or made by somebody else"), e.getMessage());
      }
    }
  }

  @Test
  void aTruncatedRecordIsAClosedConnection() throws Exception {
    try (Rendezvous rendezvous = listen()) {
      var other = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
      try (var a = rendezvous.accept()) {
        PairPeer b = (PairPeer) get(other);
        b.frames().wire().write(ByteBuffer.allocate(9).putInt(100).array());
        b.close();
        var e = assertThrows(RdmaException.class, () -> a.exchange(new byte[0]));
        assertTrue(e.getMessage().contains("closed the connection"), e.getMessage());
      }
    }
  }

  @Test
  void anAnswerRecordedEarlierIsNotBelieved() throws Exception {
    try (Rendezvous rendezvous = listen();
        Relay relay = new Relay(rendezvous.address(), (side, offset, chunk) -> chunk)) {
      var first = async(() -> Rendezvous.connect(relay.address(), secret()));
      rendezvous.accept().close();
      get(first).close();
      byte[] heard = relay.heard();
      byte[] connector = new byte[Hello.BYTES + PROOF];
      // The connector's hello is heard first; its proof follows the listener's hello.
      System.arraycopy(heard, 0, connector, 0, Hello.BYTES);
      System.arraycopy(heard, 2 * Hello.BYTES, connector, Hello.BYTES, PROOF);
      try (Socket replay =
          new Socket(rendezvous.address().getAddress(), rendezvous.address().getPort())) {
        replay.setSoTimeout(20_000);
        replay.getOutputStream().write(connector);
        byte[] answer = replay.getInputStream().readNBytes(Hello.BYTES + ANSWER);
        assertFalse(answer.length < Hello.BYTES + ANSWER, "no answer");
        assertTrue(answer[Hello.BYTES] == Verdict.WRONG_SECRET.ordinal(), "the replay was let in");
      }
    }
  }

  @Test
  void randomBytesNeverDisturbTheRealPeer() throws Exception {
    Random random = new Random(20260101);
    try (Rendezvous rendezvous = listen()) {
      var accepted = async(rendezvous::accept);
      for (int i = 0; i < 300; i++) {
        byte[] bytes = new byte[random.nextInt(200)];
        random.nextBytes(bytes);
        if (i % 2 == 0) {
          // Past the magic, so that the fields are reached.
          byte[] hello = Hello.pair(true, 1).toBytes();
          int keep = 8 + random.nextInt(Hello.BYTES - 8);
          System.arraycopy(hello, 0, bytes, 0, Math.min(keep, bytes.length));
        }
        try (Socket socket =
            new Socket(rendezvous.address().getAddress(), rendezvous.address().getPort())) {
          socket.getOutputStream().write(bytes);
        } catch (IOException e) {
          // Dropped before all was written.
        }
      }
      assertFalse(accepted.isDone(), "random bytes were let in, or ended the wait");
      var real = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
      get(accepted).close();
      get(real).close();
    }
  }
}
