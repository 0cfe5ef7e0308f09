// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import static org.gpuverbs.internal.rendezvous.Parties.MEDIUM;
import static org.gpuverbs.internal.rendezvous.Parties.OTHER_SECRET;
import static org.gpuverbs.internal.rendezvous.Parties.PATIENCE;
import static org.gpuverbs.internal.rendezvous.Parties.SHORT;
import static org.gpuverbs.internal.rendezvous.Parties.async;
import static org.gpuverbs.internal.rendezvous.Parties.failure;
import static org.gpuverbs.internal.rendezvous.Parties.get;
import static org.gpuverbs.internal.rendezvous.Parties.listen;
import static org.gpuverbs.internal.rendezvous.Parties.secret;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Rendezvous;
import org.gpuverbs.Rendezvous.Options;
import org.gpuverbs.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Those who should not be let in, and the real peer who must be, whatever they do. */
@Timeout(60)
class StrangerTest {
  private static Socket dial(InetSocketAddress address) throws IOException {
    Socket socket = new Socket(address.getAddress(), address.getPort());
    socket.setSoTimeout((int) PATIENCE.toMillis());
    return socket;
  }

  /** Ends when the listener has dropped the connection. */
  private static void awaitDrop(Socket socket) {
    byte[] buffer = new byte[256];
    try {
      while (socket.getInputStream().read(buffer) >= 0) {
        // A hello, perhaps.
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError("the listener did not drop the stranger", e);
    } catch (IOException e) {
      // Reset: dropped as well.
    }
  }

  private static void assertRealPeerGetsIn(Rendezvous rendezvous) {
    var real = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
    rendezvous.accept().close();
    get(real).close();
  }

  @Test
  void aStrangerIsDroppedAndTheRealPeerAccepted() throws Exception {
    try (Rendezvous rendezvous = listen();
        Socket stranger = dial(rendezvous.address())) {
      var accepted = async(rendezvous::accept);
      stranger
          .getOutputStream()
          .write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      awaitDrop(stranger);
      var real = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
      get(accepted).close();
      get(real).close();
    }
  }

  @Test
  void silentStrangersDoNotDelayTheRealPeer() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try (Rendezvous rendezvous = listen()) {
      for (int i = 0; i < Doorman.MAX_HANDSHAKES + 10; i++) {
        silent.add(dial(rendezvous.address()));
      }
      long before = System.nanoTime();
      assertRealPeerGetsIn(rendezvous);
      assertTrue(System.nanoTime() - before < Doorman.HANDSHAKE.toNanos(), "waited for the silent");
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  @Test
  void aTrickleOfBytesDoesNotStretchADeadline() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket there = dial((InetSocketAddress) server.getLocalSocketAddress());
        Socket here = server.accept()) {
      var trickle =
          async(
              () -> {
                try {
                  while (true) {
                    there.getOutputStream().write(1);
                    Thread.sleep(5);
                  }
                } catch (IOException e) {
                  return null;
                }
              });
      Wire wire = new Wire(here);
      long before = System.nanoTime();
      assertThrows(SocketTimeoutException.class, () -> wire.read(1_000_000, Deadline.after(SHORT)));
      assertTrue(System.nanoTime() - before >= SHORT.toNanos());
      wire.close();
      get(trickle);
    }
  }

  @Test
  void aWriterThatNobodyReadsFromIsGivenUp() {
    var never = Outbound.start(() -> LockSupport.parkNanos(PATIENCE.toNanos()));
    assertThrows(SocketTimeoutException.class, () -> never.await(Deadline.after(SHORT)));
  }

  @Test
  void anotherSecretIsRefusedAtOnceAndTheRealPeerAccepted() {
    try (Rendezvous rendezvous = listen()) {
      var accepted = async(rendezvous::accept);
      var wrong =
          async(
              () ->
                  Rendezvous.connect(
                      rendezvous.address(), Options.secret(OTHER_SECRET).timeout(PATIENCE)));
      RdmaException e = failure(wrong);
      assertEquals(13, e.errno());
      assertTrue(e.hint().contains("same secret"), e.getMessage());
      var real = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
      get(accepted).close();
      get(real).close();
    }
  }

  @Test
  void aSecretOnOneSideOnlyIsRefusedInBothDirections() {
    try (Rendezvous rendezvous = listen()) {
      var accepted = async(rendezvous::accept);
      var without = async(() -> Rendezvous.connect(rendezvous.address(), Options.loopback()));
      assertTrue(failure(without).getMessage().contains("has a secret and this side has none"));
      get(async(() -> Rendezvous.connect(rendezvous.address(), secret()))).close();
      get(accepted).close();
    }
    try (Rendezvous open = Rendezvous.listen(Parties.anyPort(), Options.loopback())) {
      var accepted = async(open::accept);
      var with = async(() -> Rendezvous.connect(open.address(), secret()));
      assertTrue(failure(with).getMessage().contains("has no secret and this side has"));
      get(async(() -> Rendezvous.connect(open.address(), Options.loopback()))).close();
      get(accepted).close();
    }
  }

  @Test
  void anotherVersionIsToldOursAndDropped() throws Exception {
    try (Rendezvous rendezvous = listen();
        Socket newer = dial(rendezvous.address())) {
      var accepted = async(rendezvous::accept);
      byte[] hello = Hello.pair(true, 1).toBytes();
      hello[9] = 2;
      newer.getOutputStream().write(hello);
      byte[] answer = newer.getInputStream().readNBytes(Hello.BYTES);
      assertEquals("GPUVRDZV", new String(answer, 0, 8, StandardCharsets.US_ASCII));
      assertEquals(1, answer[9]);
      awaitDrop(newer);
      get(async(() -> Rendezvous.connect(rendezvous.address(), secret()))).close();
      get(accepted).close();
    }
  }

  @Test
  void aListenerOfAnotherVersionIsNamed() throws Exception {
    byte[] hello = Hello.pair(true, 0).toBytes();
    hello[9] = 7;
    RdmaException e = connectTo(hello);
    assertTrue(e.getMessage().contains("version 7 and this side version 1"), e.getMessage());
    assertTrue(e.hint().contains("same version of gpuverbs"), e.hint());
  }

  @Test
  void aListenerThatIsNoRendezvousIsNamed() throws Exception {
    RdmaException e = connectTo("SSH-2.0-OpenSSH_9.2\r\n".getBytes(StandardCharsets.US_ASCII));
    assertTrue(e.hint().contains("check host and port"), e.getMessage());
  }

  @Test
  void aListenerThatDoesNotKnowTheSecretIsNotBelieved() throws Exception {
    byte[] hello = Hello.pair(true, 0).toBytes();
    byte[] answer = new byte[1 + Secrets.MAC];
    byte[] both = Arrays.copyOf(hello, hello.length + answer.length);
    RdmaException e = connectTo(both);
    assertEquals(13, e.errno());
  }

  @Test
  void anUnknownAnswerIsRefused() throws Exception {
    byte[] hello = Hello.pair(true, 0).toBytes();
    byte[] both = Arrays.copyOf(hello, hello.length + 1 + Secrets.MAC);
    both[hello.length] = 99;
    assertTrue(connectTo(both).getMessage().contains("unknown code 99"));
  }

  /** What connect throws when the listener says these bytes. */
  private static RdmaException connectTo(byte[] answer) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var address = (InetSocketAddress) server.getLocalSocketAddress();
      var connector = async(() -> Rendezvous.connect(address, secret()));
      try (Socket accepted = server.accept()) {
        accepted.getOutputStream().write(answer);
        return failure(connector);
      }
    }
  }

  @Test
  void nobodyListeningEndsAtTheDeadline() throws Exception {
    InetSocketAddress address;
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      address = (InetSocketAddress) probe.getLocalSocketAddress();
    }
    var e =
        assertThrows(
            RdmaException.class, () -> Rendezvous.connect(address, secret().timeout(SHORT)));
    assertEquals(Status.TIMEOUT, e.code());
    assertTrue(e.getMessage().contains("within 300 ms"), e.getMessage());
  }

  @Test
  void aSilentListenerEndsAtTheDeadline() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var address = (InetSocketAddress) server.getLocalSocketAddress();
      var e =
          assertThrows(
              RdmaException.class, () -> Rendezvous.connect(address, secret().timeout(SHORT)));
      assertEquals(Status.TIMEOUT, e.code());
    }
  }

  @Test
  void whoWasDroppedIsToldWhenNobodyCame() {
    try (Rendezvous rendezvous = Rendezvous.listen(Parties.anyPort(), secret().timeout(MEDIUM))) {
      var accepted = async(rendezvous::accept);
      failure(async(() -> Rendezvous.connect(rendezvous.address(), Options.secret(OTHER_SECRET))));
      RdmaException e = failure(accepted);
      assertEquals(Status.TIMEOUT, e.code());
      assertTrue(e.getMessage().contains("1 connection was dropped"), e.getMessage());
      assertTrue(e.getMessage().contains("did not prove that it knows the secret"), e.getMessage());
    }
  }

  @Test
  void aPeerThatDoesNotExchangeEndsAtTheDeadline() {
    try (Rendezvous rendezvous = Rendezvous.listen(Parties.anyPort(), secret().timeout(MEDIUM))) {
      var other = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
      try (var peer = rendezvous.accept();
          var silent = get(other)) {
        var e = assertThrows(RdmaException.class, () -> peer.exchange(new byte[0]));
        assertEquals(Status.TIMEOUT, e.code());
        assertThrows(IllegalStateException.class, () -> peer.exchange(new byte[0]));
      }
    }
  }
}
