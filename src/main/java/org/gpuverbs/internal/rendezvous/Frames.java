// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import javax.crypto.Mac;
import org.gpuverbs.Rendezvous;

/**
 * Records on an authenticated wire. A frame is its payload's length (4 bytes), type (1), payload
 * and MAC (32); the MAC covers a sequence number that does not travel, so a frame can't be dropped,
 * repeated or moved. One reader and one writer at a time.
 */
final class Frames implements Closeable {
  /** A record. */
  static final int DATA = 1;

  /** The group is complete; empty. */
  static final int READY = 2;

  /** The group is broken; the payload is the 4-byte rank that was lost. */
  static final int LOST = 3;

  private static final int HEADER = 5;

  private final Wire wire;
  private final Mac out;
  private final Mac in;
  private long sent;
  private long received;

  Frames(Wire wire, byte[] outKey, byte[] inKey) {
    this.wire = wire;
    out = Secrets.start(outKey);
    in = Secrets.start(inKey);
  }

  record Frame(int type, byte[] payload) {}

  Wire wire() {
    return wire;
  }

  void send(int type, byte[] payload) throws IOException {
    ByteBuffer frame = ByteBuffer.allocate(HEADER + payload.length + Secrets.MAC);
    frame.putInt(payload.length).put((byte) type).put(payload);
    frame.put(mac(out, sent++, frame.array(), HEADER + payload.length));
    wire.write(frame.array());
  }

  Frame receive(Deadline deadline) throws IOException {
    byte[] header = wire.read(HEADER, deadline);
    int length = ByteBuffer.wrap(header).getInt();
    if (length < 0 || length > Rendezvous.MAX_RECORD) {
      throw new StrangerException(
          "it announces a record of %d bytes, and %d is the most"
              .formatted(Integer.toUnsignedLong(length), Rendezvous.MAX_RECORD));
    }
    byte[] rest = wire.read(length + Secrets.MAC, deadline);
    byte[] covered = Arrays.copyOf(header, HEADER + length);
    System.arraycopy(rest, 0, covered, HEADER, length);
    byte[] mac = Arrays.copyOfRange(rest, length, rest.length);
    if (!Secrets.same(mac, mac(in, received++, covered, covered.length))) {
      throw new StrangerException("its record was changed or made by somebody else");
    }
    return new Frame(header[4], Arrays.copyOf(rest, length));
  }

  /** Receives a frame that must be of this type. */
  byte[] receive(int type, Deadline deadline) throws IOException {
    Frame frame = receive(deadline);
    if (frame.type() != type) {
      throw new StrangerException(
          "it sent a frame of type %d where type %d was due".formatted(frame.type(), type));
    }
    return frame.payload();
  }

  private static byte[] mac(Mac mac, long sequence, byte[] bytes, int length) {
    mac.update(ByteBuffer.allocate(Long.BYTES).putLong(0, sequence));
    mac.update(bytes, 0, length);
    return mac.doFinal();
  }

  @Override
  public void close() {
    wire.close();
  }
}
