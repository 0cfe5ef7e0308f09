// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Builds the bytes of one WQE, right or deliberately wrong. Big-endian, as ByteBuffer is by itself.
 */
final class WqeBytes {
  private final ByteBuffer bytes = ByteBuffer.allocate(1024);
  private final int opcode;
  private int opmod;
  private int flags;
  private int immediate;
  private int indexOffset;
  private int qpnOffset;
  private int ds;

  private WqeBytes(int opcode) {
    this.opcode = opcode;
    bytes.position(16);
  }

  static WqeBytes of(int opcode) {
    return new WqeBytes(opcode);
  }

  WqeBytes opmod(int opmod) {
    this.opmod = opmod;
    return this;
  }

  WqeBytes signalled() {
    flags |= 0x08;
    return this;
  }

  WqeBytes solicited() {
    flags |= 0x02;
    return this;
  }

  WqeBytes flags(int flags) {
    this.flags |= flags;
    return this;
  }

  WqeBytes immediate(int immediate) {
    this.immediate = immediate;
    return this;
  }

  WqeBytes remote(long address, int rkey) {
    bytes.putLong(address).putInt(rkey).putInt(0);
    return this;
  }

  WqeBytes remote(SoftMr mr, long offset) {
    return remote(mr.address() + offset, mr.rkey());
  }

  WqeBytes data(long address, int length, int lkey) {
    bytes.putInt(length).putInt(lkey).putLong(address);
    return this;
  }

  WqeBytes data(SoftMr mr, long offset, int length) {
    return data(mr.address() + offset, length, mr.lkey());
  }

  WqeBytes inline(byte[] data) {
    bytes.putInt(data.length | 0x8000_0000).put(data);
    while (bytes.position() % 16 != 0) {
      bytes.put((byte) 0xee);
    }
    return this;
  }

  WqeBytes longs(long... words) {
    Arrays.stream(words).forEach(bytes::putLong);
    return this;
  }

  WqeBytes ints(int... words) {
    Arrays.stream(words).forEach(bytes::putInt);
    return this;
  }

  /** Wrong index by this much. */
  WqeBytes indexOffset(int offset) {
    indexOffset = offset;
    return this;
  }

  /** Wrong QP number by this much. */
  WqeBytes qpnOffset(int offset) {
    qpnOffset = offset;
    return this;
  }

  /** Says another size than it has. */
  WqeBytes ds(int ds) {
    this.ds = ds;
    return this;
  }

  int wqebbs() {
    return (bytes.position() + 63) / 64;
  }

  /** Writes it at WQEBB {@code index}, wrapping block by block. */
  void writeTo(MemorySegment ring, int depth, long index, int qpn) {
    int length = bytes.position();
    bytes.putInt(0, opmod << 24 | (int) ((index + indexOffset) & 0xffff) << 8 | opcode);
    bytes.putInt(4, (qpn + qpnOffset) << 8 | (ds != 0 ? ds : length / 16));
    bytes.putInt(8, flags);
    bytes.putInt(12, immediate);
    byte[] all = bytes.array();
    for (int block = 0; block < wqebbs(); block++) {
      long at = 64L * ((index + block) & (depth - 1));
      MemorySegment.copy(
          all, 64 * block, ring, ValueLayout.JAVA_BYTE, at, Math.min(64, length - 64 * block));
    }
  }
}
