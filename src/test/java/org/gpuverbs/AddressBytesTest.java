// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/** The byte forms of addresses and remote memory. */
class AddressBytesTest {
  @Property(tries = 200)
  void anAddressSurvivesItsByteForm(
      @ForAll Path path,
      @ForAll long guid,
      @ForAll @IntRange(min = 1, max = 0xff_ffff) int number,
      @ForAll @IntRange(max = 0xff_ffff) int sequence,
      @ForAll @IntRange(max = 0xffff) int lid,
      @ForAll @IntRange(min = 8, max = 12) int mtuBits,
      @ForAll long gid) {
    QueuePairAddress address =
        new QueuePairAddress(path, guid, number, sequence, lid, 1 << mtuBits, gid, ~gid);
    assertEquals(address, QueuePairAddress.fromBytes(address.toBytes()));
  }

  @Property(tries = 400)
  void anAddressWithAnyBitFlippedIsRefused(
      @ForAll @IntRange(max = QueuePairAddress.BYTES * 8 - 1) int bit) {
    byte[] bytes = new QueuePairAddress(Path.SOFT, 1, 2, 3, 0, 0, 0, 0).toBytes();
    bytes[bit / 8] ^= (byte) (1 << bit % 8);
    assertThrows(IllegalArgumentException.class, () -> QueuePairAddress.fromBytes(bytes));
  }

  @Property(tries = 200)
  void garbageIsNoAddress(@ForAll @Size(max = 100) byte[] bytes) {
    assertThrows(IllegalArgumentException.class, () -> QueuePairAddress.fromBytes(bytes));
  }

  @Property(tries = 50)
  void anAddressOfAnotherLengthIsRefused(@ForAll @IntRange(max = 100) int length) {
    byte[] bytes = new QueuePairAddress(Path.SOFT, 1, 2, 3, 0, 0, 0, 0).toBytes();
    byte[] other = Arrays.copyOf(bytes, length == bytes.length ? length + 1 : length);
    assertThrows(IllegalArgumentException.class, () -> QueuePairAddress.fromBytes(other));
  }

  @Property(tries = 200)
  void remoteMemorySurvivesItsByteForm(
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE) long address,
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE) long length,
      @ForAll int rkey) {
    RemoteMemory memory = new RemoteMemory(address, length, rkey);
    assertEquals(memory, RemoteMemory.fromBytes(memory.toBytes()));
  }

  @Property(tries = 300)
  void remoteMemoryWithAnyBitFlippedIsRefused(
      @ForAll @IntRange(max = RemoteMemory.BYTES * 8 - 1) int bit) {
    byte[] bytes = new RemoteMemory(4096, 64, 7).toBytes();
    bytes[bit / 8] ^= (byte) (1 << bit % 8);
    assertThrows(IllegalArgumentException.class, () -> RemoteMemory.fromBytes(bytes));
  }

  @Property(tries = 100)
  void remoteMemoryThatWrapsAroundIsRefused(
      @ForAll @LongRange(min = 2, max = 1 << 20) long length) {
    assertThrows(IllegalArgumentException.class, () -> new RemoteMemory(-1, length, 0));
  }
}
