// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A range of a peer's memory region, to be sent to the one who shall access it. A request starts at
 * {@code address}; a batch may later move it anywhere within the range.
 *
 * @param address the first byte's address in the peer's address space
 * @param length bytes, 0 or more
 * @param rkey the peer's key
 */
public record RemoteMemory(long address, long length, int rkey) {
  /** The size of {@link #toBytes()}. */
  public static final int BYTES = 28;

  private static final int MAGIC = 0x47565201; // "GVR", version 1

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if the length is negative, or the range wraps around the end
   *     of the address space
   */
  public RemoteMemory {
    if (length < 0) {
      throw new IllegalArgumentException("length is " + length + ": take 0 or more");
    }
    if (length > 0 && Long.compareUnsigned(address + length - 1, address) < 0) {
      throw new IllegalArgumentException("the range wraps around the end of the address space");
    }
  }

  /**
   * A part of this range.
   *
   * @param offset bytes from its start
   * @param bytes the part's length
   * @return the part, with the same key
   * @throws IndexOutOfBoundsException if the part is not inside
   */
  public RemoteMemory slice(long offset, long bytes) {
    java.util.Objects.checkFromIndexSize(offset, bytes, length);
    return new RemoteMemory(address + offset, bytes, rkey);
  }

  /**
   * The compact form: big-endian, versioned, with a checksum.
   *
   * @return {@link #BYTES} bytes
   */
  public byte[] toBytes() {
    ByteBuffer out = ByteBuffer.allocate(BYTES).order(ByteOrder.BIG_ENDIAN);
    out.putInt(MAGIC).putLong(address).putLong(length).putInt(rkey);
    out.putInt(checksum(out.array()));
    return out.array();
  }

  /**
   * Reads the compact form.
   *
   * @param bytes what {@link #toBytes()} gave
   * @return the value
   * @throws IllegalArgumentException if the size, the version, the checksum or the range is wrong
   */
  public static RemoteMemory fromBytes(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException(
          "a RemoteMemory has " + BYTES + " bytes; these are " + bytes.length);
    }
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN);
    if (in.getInt() != MAGIC) {
      throw new IllegalArgumentException("not a RemoteMemory of version 1");
    }
    long address = in.getLong();
    long length = in.getLong();
    int rkey = in.getInt();
    if (in.getInt() != checksum(bytes)) {
      throw new IllegalArgumentException(
          "a RemoteMemory with a wrong checksum: damaged on its way");
    }
    return new RemoteMemory(address, length, rkey);
  }

  private static int checksum(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, BYTES - 4);
    return (int) crc.getValue();
  }
}
