// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stands between two sides: records what they say and may change it. */
final class Relay implements AutoCloseable {
  /** Changes a chunk of bytes on its way. */
  interface Tamper {
    byte[] change(boolean fromConnector, long offset, byte[] chunk);
  }

  private final ServerSocket server;
  private final InetSocketAddress target;
  private final Tamper tamper;
  private final ByteArrayOutputStream heard = new ByteArrayOutputStream();
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  Relay(InetSocketAddress target, Tamper tamper) throws IOException {
    this.target = target;
    this.tamper = tamper;
    server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  static Tamper flip(boolean fromConnector, long at, int mask) {
    return (connector, offset, chunk) -> {
      if (connector == fromConnector && at >= offset && at < offset + chunk.length) {
        chunk[(int) (at - offset)] ^= (byte) mask;
      }
      return chunk;
    };
  }

  InetSocketAddress address() {
    return (InetSocketAddress) server.getLocalSocketAddress();
  }

  byte[] heard() {
    synchronized (heard) {
      return heard.toByteArray();
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket connector = server.accept();
        Socket listener = new Socket(target.getAddress(), target.getPort());
        sockets.add(connector);
        sockets.add(listener);
        Thread.ofVirtual().start(() -> pump(connector, listener, true));
        Thread.ofVirtual().start(() -> pump(listener, connector, false));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void pump(Socket from, Socket to, boolean fromConnector) {
    byte[] buffer = new byte[4096];
    long offset = 0;
    try (from;
        to) {
      int n;
      while ((n = from.getInputStream().read(buffer)) >= 0) {
        byte[] chunk = Arrays.copyOf(buffer, n);
        synchronized (heard) {
          heard.write(chunk);
        }
        to.getOutputStream().write(tamper.change(fromConnector, offset, chunk));
        offset += n;
      }
    } catch (IOException e) {
      // One side is gone; closing both tells the other.
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
