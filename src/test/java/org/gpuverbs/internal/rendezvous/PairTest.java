// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import static org.gpuverbs.internal.rendezvous.Parties.async;
import static org.gpuverbs.internal.rendezvous.Parties.failure;
import static org.gpuverbs.internal.rendezvous.Parties.get;
import static org.gpuverbs.internal.rendezvous.Parties.listen;
import static org.gpuverbs.internal.rendezvous.Parties.secret;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Rendezvous;
import org.gpuverbs.Rendezvous.Options;
import org.gpuverbs.Status;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class PairTest {
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 100, Rendezvous.MAX_RECORD})
  void bothSidesGetTheOthersRecord(int length) {
    byte[] a = new byte[length];
    byte[] b = new byte[length];
    new Random(length).nextBytes(a);
    new Random(length + 1).nextBytes(b);
    try (Rendezvous rendezvous = listen()) {
      var other =
          async(
              () -> {
                try (var peer = Rendezvous.connect(rendezvous.address(), secret())) {
                  return peer.exchange(b);
                }
              });
      try (var peer = rendezvous.accept()) {
        assertArrayEquals(b, peer.exchange(a));
        assertArrayEquals(a, get(other));
      }
    }
  }

  /** Repeated, since the listener used to close a peer whose handshake had only just ended. */
  @RepeatedTest(50)
  void aPeerOutlivesTheListenerThatAcceptedIt() {
    try (Rendezvous rendezvous = listen()) {
      var other =
          async(
              () -> {
                try (var peer = Rendezvous.connect(rendezvous.address(), secret())) {
                  return peer.exchange(new byte[] {2});
                }
              });
      try (var peer = rendezvous.accept()) {
        rendezvous.close();
        assertArrayEquals(new byte[] {2}, peer.exchange(new byte[] {1}));
        assertArrayEquals(new byte[] {1}, get(other));
      }
    }
  }

  @Test
  void aPeerExchangesManyTimes() {
    try (Rendezvous rendezvous = listen()) {
      var other =
          async(
              () -> {
                try (var peer = Rendezvous.connect(rendezvous.address(), secret())) {
                  int sum = 0;
                  for (int i = 0; i < 50; i++) {
                    sum += peer.exchange(new byte[] {(byte) i})[0];
                  }
                  return sum;
                }
              });
      try (var peer = rendezvous.accept()) {
        for (int i = 0; i < 50; i++) {
          assertEquals(i, peer.exchange(new byte[] {1})[0]);
        }
      }
      assertEquals(50, get(other));
    }
  }

  @Test
  void theConnectorMayComeFirst() throws Exception {
    int port;
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = probe.getLocalPort();
    }
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    var other =
        async(
            () -> {
              try (var peer = Rendezvous.connect(address, secret())) {
                return peer.exchange(new byte[] {1})[0];
              }
            });
    try (var peer = Rendezvous.accept(address, secret())) {
      assertEquals(1, peer.exchange(new byte[] {2})[0]);
    }
    assertEquals((byte) 2, get(other));
  }

  @Test
  void oneListenerAcceptsManyPeers() {
    try (Rendezvous rendezvous = listen()) {
      for (int i = 0; i < 5; i++) {
        byte mine = (byte) i;
        var other =
            async(
                () -> {
                  try (var peer = Rendezvous.connect(rendezvous.address(), secret())) {
                    return peer.exchange(new byte[] {mine})[0];
                  }
                });
        try (var peer = rendezvous.accept()) {
          assertEquals(mine, peer.exchange(new byte[] {7})[0]);
        }
        assertEquals((byte) 7, get(other));
      }
    }
  }

  @Test
  void noSecretIsNeededOnLoopback() {
    try (Rendezvous rendezvous = Rendezvous.listen(Parties.anyPort(), Options.loopback())) {
      var other = async(() -> Rendezvous.connect(rendezvous.address(), Options.loopback()));
      try (var peer = rendezvous.accept();
          var theirs = get(other)) {
        assertEquals(theirs.remote(), rendezvous.address());
        assertTrue(peer.remote().getAddress().isLoopbackAddress());
      }
    }
  }

  @Test
  void withoutASecretOtherAddressesAreRefused() {
    var everywhere = new InetSocketAddress("0.0.0.0", 0);
    var e =
        assertThrows(
            IllegalArgumentException.class,
            () -> Rendezvous.listen(everywhere, Options.loopback()));
    assertTrue(e.getMessage().contains("Options.secret"), e.getMessage());
    var remote = new InetSocketAddress("192.0.2.1", 1);
    assertThrows(
        IllegalArgumentException.class, () -> Rendezvous.connect(remote, Options.loopback()));
  }

  @Test
  void insecureByNameTakesAnyAddress() {
    try (Rendezvous rendezvous =
        Rendezvous.listen(new InetSocketAddress("0.0.0.0", 0), Options.insecure())) {
      var there =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), rendezvous.address().getPort());
      var other = async(() -> Rendezvous.connect(there, Options.insecure()));
      rendezvous.accept().close();
      get(other).close();
    }
  }

  @Test
  void aShortSecretIsRefused() {
    var e = assertThrows(IllegalArgumentException.class, () -> Options.secret(new byte[15]));
    assertTrue(e.getMessage().contains("newSecret"), e.getMessage());
  }

  @Test
  void anUnresolvedHostIsNamed() {
    var nowhere = InetSocketAddress.createUnresolved("no-such-host.invalid", 1);
    var e =
        assertThrows(IllegalArgumentException.class, () -> Rendezvous.connect(nowhere, secret()));
    assertTrue(e.getMessage().contains("no-such-host.invalid"), e.getMessage());
  }

  @Test
  void aTakenPortIsNamed() {
    try (Rendezvous rendezvous = listen()) {
      var e =
          assertThrows(
              RdmaException.class, () -> Rendezvous.listen(rendezvous.address(), secret()));
      assertTrue(e.getMessage().contains("free port"), e.getMessage());
    }
  }

  @Test
  void aTooLongRecordIsRefusedAndThePeerGoesOn() {
    try (Rendezvous rendezvous = listen()) {
      var other = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
      try (var a = rendezvous.accept();
          var b = get(other)) {
        byte[] tooLong = new byte[Rendezvous.MAX_RECORD + 1];
        assertThrows(IllegalArgumentException.class, () -> a.exchange(tooLong));
        var reply = async(() -> b.exchange(new byte[] {3}));
        assertEquals(3, a.exchange(new byte[0])[0]);
        assertEquals(0, get(reply).length);
      }
    }
  }

  @Test
  void theSecretNeverTravels() throws Exception {
    try (Rendezvous rendezvous = listen();
        Relay relay = new Relay(rendezvous.address(), (side, offset, chunk) -> chunk)) {
      var other = async(() -> Rendezvous.connect(relay.address(), secret()));
      try (var a = rendezvous.accept();
          var b = get(other)) {
        var reply = async(() -> b.exchange(new byte[] {1}));
        a.exchange(new byte[] {2});
        get(reply);
      }
      String heard = new String(relay.heard(), StandardCharsets.ISO_8859_1);
      assertTrue(heard.contains("GPUVRDZV"), "the relay heard nothing");
      assertFalse(heard.contains(new String(Parties.SECRET, StandardCharsets.ISO_8859_1)));
    }
  }

  @Test
  void closeEndsAWaitingAccept() {
    Rendezvous rendezvous = listen();
    var waiting = async(rendezvous::accept);
    rendezvous.close();
    var e = assertThrows(Exception.class, () -> waiting.get(30, TimeUnit.SECONDS));
    // Whether accept had begun when close came is a matter of timing: both answers name the close.
    assertTrue(e.getCause().getMessage().contains("closed"), e.getCause().getMessage());
  }

  @Test
  void useAfterCloseThrowsAndClosingTwiceIsFine() {
    Rendezvous rendezvous = listen();
    var other = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
    var peer = rendezvous.accept();
    get(other).close();
    peer.close();
    peer.close();
    rendezvous.close();
    rendezvous.close();
    assertThrows(IllegalStateException.class, () -> peer.exchange(new byte[0]));
    assertThrows(IllegalStateException.class, rendezvous::accept);
  }

  @Test
  void closeEndsAnExchangeOnAnotherThread() {
    try (Rendezvous rendezvous = listen()) {
      var other = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
      var peer = rendezvous.accept();
      try (var silent = get(other)) {
        var waiting = async(() -> peer.exchange(new byte[0]));
        awaitBusy(peer);
        peer.close();
        assertEquals(Status.CLOSED, failure(waiting).code());
      }
    }
  }

  @Test
  void interruptingAVirtualThreadEndsItsExchange() throws Exception {
    try (Rendezvous rendezvous = listen()) {
      var other = async(() -> Rendezvous.connect(rendezvous.address(), secret()));
      var peer = rendezvous.accept();
      try (var silent = get(other)) {
        var outcome = new CompletableFuture<byte[]>();
        Thread thread =
            Thread.ofVirtual()
                .start(
                    () -> {
                      try {
                        outcome.complete(peer.exchange(new byte[0]));
                      } catch (RuntimeException e) {
                        outcome.completeExceptionally(e);
                      }
                    });
        awaitBusy(peer);
        thread.interrupt();
        assertTrue(failure(outcome).getMessage().contains("interrupted"));
      }
    }
  }

  /** Until another thread's exchange is under way, which a second one is refused for. */
  private static void awaitBusy(Rendezvous.Peer peer) {
    long deadline = System.nanoTime() + 20_000_000_000L;
    byte[] empty = new byte[0];
    while (System.nanoTime() < deadline) {
      if (((PairPeer) peer).busy()) {
        var e = assertThrows(IllegalStateException.class, () -> peer.exchange(empty));
        assertTrue(e.getMessage().contains("one at a time"), e.getMessage());
        return;
      }
      Thread.onSpinWait();
    }
    throw new AssertionError("no exchange began");
  }
}
