// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A connected socket whose reads end at a deadline, also when the other side sends one byte at a
 * time.
 */
final class Wire implements Closeable {
  private final Socket socket;
  private final InputStream in;
  private final InetSocketAddress remote;

  Wire(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    socket.setKeepAlive(true);
    in = socket.getInputStream();
    remote = (InetSocketAddress) socket.getRemoteSocketAddress();
  }

  InetSocketAddress remote() {
    return remote;
  }

  byte[] read(int length, Deadline deadline) throws IOException {
    byte[] bytes = new byte[length];
    int done = 0;
    while (done < length) {
      socket.setSoTimeout(deadline.remainingMillis());
      int n = in.read(bytes, done, length - done);
      if (n < 0) {
        throw new EOFException("closed by the other side");
      }
      done += n;
    }
    return bytes;
  }

  /**
   * Writes all. Without a deadline of its own: handshake messages fit any socket buffer, and
   * records are written by a thread of their own (see {@link Outbound}), which closing the wire
   * ends.
   */
  void write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // The descriptor is gone either way, and there is nobody to tell.
    }
  }
}
