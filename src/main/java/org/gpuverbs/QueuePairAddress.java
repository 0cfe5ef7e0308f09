// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * What a peer needs to connect to a queue pair. Exchange it by any means, such as {@code
 * Rendezvous}.
 *
 * @param path the path of the queue pair: DIRECT and PROXY reach each other, SOFT reaches SOFT
 * @param guid the NIC's identity
 * @param number the queue pair's number, 1..2<sup>24</sup>-1
 * @param packetSequence the first packet sequence number, 0..2<sup>24</sup>-1
 * @param lid the port's local identifier, 0..65535; 0 where none is used
 * @param mtu bytes a packet: 0 (not used), 256, 512, 1024, 2048 or 4096
 * @param gidHigh the port's global identifier, first 8 bytes; 0 where none is used
 * @param gidLow the port's global identifier, last 8 bytes
 */
public record QueuePairAddress(
    Path path,
    long guid,
    int number,
    int packetSequence,
    int lid,
    int mtu,
    long gidHigh,
    long gidLow) {
  /** The size of {@link #toBytes()}. */
  public static final int BYTES = 48;

  private static final int MAGIC = 0x47565101; // "GVQ", version 1
  private static final int MAX_24_BITS = (1 << 24) - 1;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the component that is out of range
   */
  public QueuePairAddress {
    Objects.requireNonNull(path, "path");
    check(number >= 1 && number <= MAX_24_BITS, "number", number);
    check(packetSequence >= 0 && packetSequence <= MAX_24_BITS, "packetSequence", packetSequence);
    check(lid >= 0 && lid <= 0xffff, "lid", lid);
    check(mtu == 0 || (mtu >= 256 && mtu <= 4096 && Integer.bitCount(mtu) == 1), "mtu", mtu);
  }

  private static void check(boolean right, String name, int value) {
    if (!right) {
      throw new IllegalArgumentException(
          "not the address of a queue pair: " + name + " is " + value);
    }
  }

  /**
   * The compact form: big-endian, versioned, with a checksum.
   *
   * @return {@link #BYTES} bytes
   */
  public byte[] toBytes() {
    ByteBuffer out = ByteBuffer.allocate(BYTES).order(ByteOrder.BIG_ENDIAN);
    out.putInt(MAGIC).put((byte) path.ordinal()).put((byte) 0).putShort((short) lid);
    out.putLong(guid).putInt(number).putInt(packetSequence).putInt(mtu);
    out.putLong(gidHigh).putLong(gidLow);
    out.putInt(checksum(out.array()));
    return out.array();
  }

  /**
   * Reads the compact form.
   *
   * @param bytes what {@link #toBytes()} gave
   * @return the value
   * @throws IllegalArgumentException if the size, the version, the checksum or a component is wrong
   */
  public static QueuePairAddress fromBytes(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException(
          "a QueuePairAddress has " + BYTES + " bytes; these are " + bytes.length);
    }
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN);
    if (in.getInt() != MAGIC) {
      throw new IllegalArgumentException("not a QueuePairAddress of version 1");
    }
    if (ByteBuffer.wrap(bytes).getInt(BYTES - 4) != checksum(bytes)) {
      throw new IllegalArgumentException(
          "a QueuePairAddress with a wrong checksum: damaged on its way");
    }
    int path = in.get();
    int reserved = in.get();
    int lid = Short.toUnsignedInt(in.getShort());
    check(path >= 0 && path < Path.values().length, "path", path);
    check(reserved == 0, "the reserved byte", reserved);
    long guid = in.getLong();
    int number = in.getInt();
    int packetSequence = in.getInt();
    int mtu = in.getInt();
    return new QueuePairAddress(
        Path.values()[path], guid, number, packetSequence, lid, mtu, in.getLong(), in.getLong());
  }

  private static int checksum(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, BYTES - 4);
    return (int) crc.getValue();
  }
}
