// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.gpuverbs.Rendezvous;

/** One side of a pair. */
final class PairPeer extends Exclusive implements Rendezvous.Peer {
  private final Frames frames;
  private final Settings settings;

  PairPeer(Frames frames, Settings settings) {
    super("peer");
    this.frames = frames;
    this.settings = settings;
  }

  Frames frames() {
    return frames;
  }

  @Override
  public byte[] exchange(byte[] record) {
    byte[] mine = enter(record);
    Deadline deadline = settings.deadline();
    try {
      Outbound outbound = Outbound.start(() -> frames.send(Frames.DATA, mine));
      byte[] theirs = frames.receive(Frames.DATA, deadline);
      outbound.await(deadline);
      return theirs;
    } catch (IOException e) {
      boolean byUs = closed();
      close();
      throw Failures.exchange("the peer at " + remote(), deadline, byUs, e);
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw Failures.interrupted(remote());
    } finally {
      leave();
    }
  }

  @Override
  public InetSocketAddress remote() {
    return frames.wire().remote();
  }

  @Override
  void closeWires() {
    frames.close();
  }
}
