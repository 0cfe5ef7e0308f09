// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.Rendezvous;

/** A group as seen by a rank above 0: it sends its record to rank 0 and receives all of them. */
final class MemberGroup extends Exclusive implements Rendezvous.Group {
  private final Frames root;
  private final int rank;
  private final int size;
  private final Settings settings;

  MemberGroup(Frames root, int rank, int size, Settings settings) {
    super("group");
    this.root = root;
    this.rank = rank;
    this.size = size;
    this.settings = settings;
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public List<byte[]> exchange(byte[] record) {
    byte[] mine = enter(record);
    Deadline deadline = settings.deadline();
    try {
      Outbound outbound = Outbound.start(() -> root.send(Frames.DATA, mine));
      List<byte[]> records = new ArrayList<>(size);
      while (records.size() < size) {
        records.add(receive(deadline));
      }
      outbound.await(deadline);
      return records;
    } catch (IOException e) {
      boolean byUs = closed();
      close();
      throw Failures.exchange("rank 0 at " + root.wire().remote(), deadline, byUs, e);
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw Failures.interrupted(root.wire().remote());
    } finally {
      leave();
    }
  }

  private byte[] receive(Deadline deadline) throws IOException {
    Frames.Frame frame = root.receive(deadline);
    if (frame.type() == Frames.LOST && frame.payload().length == Integer.BYTES) {
      throw new RefusedException(
          "rank %d was lost".formatted(ByteBuffer.wrap(frame.payload()).getInt()));
    }
    if (frame.type() != Frames.DATA) {
      throw new StrangerException("it sent a frame of type " + frame.type());
    }
    return frame.payload();
  }

  @Override
  void closeWires() {
    root.close();
  }
}
