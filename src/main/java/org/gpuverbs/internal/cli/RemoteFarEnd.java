// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.RdmaException;
import org.gpuverbs.RemoteMemory;
import org.gpuverbs.Rendezvous;

/**
 * Windows and queue pairs of a process that runs {@code demo --listen}. A call is two exchanges:
 * the request against nothing, then nothing against the answer.
 */
final class RemoteFarEnd implements FarEnd {
  static final byte OPEN = 'O';
  static final byte CONNECT = 'C';
  static final byte RELEASE = 'R';
  static final byte WIPE = 'W';
  static final byte DIGEST = 'D';
  static final byte ZERO = 'Z';
  static final byte COUNT = 'N';
  static final byte END = 'E';
  static final byte FAILED = '!';
  private static final byte[] NOTHING = {};

  private final Rendezvous.Peer peer;
  private final RemoteMemory target;
  private final RemoteMemory counter;

  RemoteFarEnd(Rendezvous.Peer peer, long bytes) {
    this.peer = peer;
    byte[] keys = call(OPEN, ByteBuffer.allocate(Long.BYTES).putLong(bytes).array());
    target = RemoteMemory.fromBytes(Arrays.copyOf(keys, RemoteMemory.BYTES));
    counter =
        RemoteMemory.fromBytes(
            Arrays.copyOfRange(keys, RemoteMemory.BYTES, 2 * RemoteMemory.BYTES));
  }

  private byte[] call(byte verb, byte... rest) {
    peer.exchange(ByteBuffer.allocate(1 + rest.length).put(verb).put(rest).array());
    byte[] answer = peer.exchange(NOTHING);
    if (answer.length > 0 && answer[0] == FAILED) {
      throw new RdmaException(
          "the far end: " + new String(answer, 1, answer.length - 1, StandardCharsets.UTF_8),
          0,
          0,
          0,
          "",
          null);
    }
    return answer;
  }

  private byte[] call(byte verb, long argument) {
    return call(verb, ByteBuffer.allocate(Long.BYTES).putLong(argument).array());
  }

  @Override
  public RemoteMemory target() {
    return target;
  }

  @Override
  public RemoteMemory counter() {
    return counter;
  }

  @Override
  public AutoCloseable connect(List<QueuePair> near) {
    ByteBuffer mine = ByteBuffer.allocate(near.size() * QueuePairAddress.BYTES);
    near.forEach(each -> mine.put(each.address().toBytes()));
    ByteBuffer theirs = ByteBuffer.wrap(call(CONNECT, mine.array()));
    for (QueuePair each : near) {
      byte[] address = new byte[QueuePairAddress.BYTES];
      theirs.get(address);
      each.connect(QueuePairAddress.fromBytes(address));
    }
    return () -> call(RELEASE);
  }

  @Override
  public void wipe(long length) {
    call(WIPE, length);
  }

  @Override
  public void arrived(DemoRow row, MemorySegment sent) {
    row.arrived(Arrays.equals(call(DIGEST, sent.byteSize()), Digests.of(sent)));
  }

  @Override
  public void zero() {
    call(ZERO);
  }

  @Override
  public long count() {
    return ByteBuffer.wrap(call(COUNT)).getLong();
  }

  @Override
  public void close() {
    try {
      call(END);
    } finally {
      peer.close();
    }
  }
}
