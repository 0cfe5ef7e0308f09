// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.Rendezvous;
import org.jspecify.annotations.Nullable;

/** {@code demo --listen}: serves one {@link RemoteFarEnd} until it says that it has ended. */
final class FarServer {
  /** Of the window that the other side may ask for. */
  private static final long MAX_WINDOW = 256L << 20;

  private static final byte[] NOTHING = {};

  private final Nic nic;
  private @Nullable LocalFarEnd end;
  private LocalFarEnd.@Nullable Group group;

  private FarServer(Nic nic) {
    this.nic = nic;
  }

  static void serve(Nic nic, Rendezvous.Peer peer) {
    FarServer server = new FarServer(nic);
    byte verb;
    do {
      byte[] request = peer.exchange(NOTHING);
      verb = request.length == 0 ? RemoteFarEnd.END : request[0];
      byte[] answer;
      try {
        answer =
            server.answer(verb, ByteBuffer.wrap(request).position(Math.min(1, request.length)));
      } catch (RuntimeException e) {
        answer = failure(String.valueOf(e.getMessage()));
      }
      peer.exchange(answer);
    } while (verb != RemoteFarEnd.END);
  }

  private static byte[] failure(String why) {
    byte[] text = why.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(1 + text.length).put(RemoteFarEnd.FAILED).put(text).array();
  }

  private byte[] answer(byte verb, ByteBuffer in) {
    if (verb == RemoteFarEnd.OPEN) {
      return open(in.getLong());
    }
    LocalFarEnd windows = end;
    if (windows == null) {
      throw new IllegalStateException("the first request must open the windows");
    }
    switch (verb) {
      case RemoteFarEnd.CONNECT -> {
        return connect(windows, in);
      }
      case RemoteFarEnd.RELEASE, RemoteFarEnd.END -> release();
      case RemoteFarEnd.WIPE -> windows.wipe(in.getLong());
      case RemoteFarEnd.DIGEST -> {
        return Digests.of(windows.bytes(in.getLong()));
      }
      case RemoteFarEnd.ZERO -> windows.zero();
      case RemoteFarEnd.COUNT -> {
        return ByteBuffer.allocate(Long.BYTES).putLong(windows.count()).array();
      }
      default -> throw new IllegalArgumentException("unknown request " + verb);
    }
    return NOTHING;
  }

  private byte[] open(long bytes) {
    if (end != null || bytes < 1 || bytes > MAX_WINDOW) {
      throw new IllegalArgumentException("a window of " + bytes + " bytes");
    }
    LocalFarEnd windows = new LocalFarEnd(nic, bytes, window -> {});
    end = windows;
    return ByteBuffer.allocate(windows.target().toBytes().length * 2)
        .put(windows.target().toBytes())
        .put(windows.counter().toBytes())
        .array();
  }

  private byte[] connect(LocalFarEnd windows, ByteBuffer in) {
    release();
    List<QueuePairAddress> theirs = new ArrayList<>();
    while (in.hasRemaining()) {
      byte[] address = new byte[QueuePairAddress.BYTES];
      in.get(address);
      theirs.add(QueuePairAddress.fromBytes(address));
    }
    LocalFarEnd.Group made = windows.group(theirs);
    group = made;
    ByteBuffer mine = ByteBuffer.allocate(theirs.size() * QueuePairAddress.BYTES);
    for (QueuePair each : made.queuePairs()) {
      mine.put(each.address().toBytes());
    }
    return mine.array();
  }

  private void release() {
    LocalFarEnd.Group old = group;
    if (old != null) {
      old.close();
      group = null;
    }
  }
}
