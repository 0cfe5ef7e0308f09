// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.rendezvous;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.gpuverbs.Rendezvous;
import org.jspecify.annotations.Nullable;

/** A group as seen by rank 0, which collects the records and sends all of them to all. */
final class RootGroup extends Exclusive implements Rendezvous.Group {
  /** By rank; 0 is this side and null. */
  private final @Nullable Frames[] members;

  private final Settings settings;

  private RootGroup(@Nullable Frames[] members, Settings settings) {
    super("group");
    this.members = members;
    this.settings = settings;
  }

  /** Tells the members that all are there. */
  static RootGroup start(@Nullable Frames[] members, Settings settings, Deadline deadline) {
    RootGroup group = new RootGroup(members, settings);
    try {
      group.toAll(frames -> frames.send(Frames.READY, new byte[0]), deadline);
      return group;
    } catch (LostException e) {
      group.close();
      throw Failures.exchange(e.who(), deadline, false, e.cause);
    } catch (InterruptedException e) {
      group.close();
      Thread.currentThread().interrupt();
      throw Failures.interrupted("the group");
    }
  }

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int size() {
    return members.length;
  }

  @Override
  public List<byte[]> exchange(byte[] record) {
    byte[] mine = enter(record);
    Deadline deadline = settings.deadline();
    try {
      List<byte[]> records = new ArrayList<>(members.length);
      records.add(mine);
      for (int rank = 1; rank < members.length; rank++) {
        records.add(receive(rank, deadline));
      }
      List<byte[]> all = List.copyOf(records);
      toAll(
          frames -> {
            for (byte[] each : all) {
              frames.send(Frames.DATA, each);
            }
          },
          deadline);
      return records;
    } catch (LostException e) {
      boolean byUs = closed();
      if (!byUs) {
        tellOfLoss(e.rank);
      }
      close();
      throw Failures.exchange(e.who(), deadline, byUs, e.cause);
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw Failures.interrupted("the group");
    } finally {
      leave();
    }
  }

  private byte[] receive(int rank, Deadline deadline) throws LostException {
    try {
      return members[rank].receive(Frames.DATA, deadline);
    } catch (IOException e) {
      throw new LostException(rank, members[rank], e);
    }
  }

  private interface Send {
    void to(Frames frames) throws IOException;
  }

  /** Sends to all members at once: one that does not read delays nobody else. */
  private void toAll(Send send, Deadline deadline) throws LostException, InterruptedException {
    Outbound[] outbound = new Outbound[members.length];
    for (int rank = 1; rank < members.length; rank++) {
      Frames frames = members[rank];
      outbound[rank] = Outbound.start(() -> send.to(frames));
    }
    for (int rank = 1; rank < members.length; rank++) {
      try {
        outbound[rank].await(deadline);
      } catch (IOException e) {
        throw new LostException(rank, members[rank], e);
      }
    }
  }

  /**
   * Best effort, and short: the members would find out from the closed connection, only not whose
   * fault it was.
   */
  private void tellOfLoss(int lost) {
    byte[] payload = ByteBuffer.allocate(Integer.BYTES).putInt(lost).array();
    Deadline soon = Deadline.after(Duration.ofMillis(500));
    List<Outbound> outbound = new ArrayList<>();
    for (int rank = 1; rank < members.length; rank++) {
      if (rank != lost) {
        Frames frames = members[rank];
        outbound.add(Outbound.start(() -> frames.send(Frames.LOST, payload)));
      }
    }
    for (Outbound each : outbound) {
      try {
        each.await(soon);
      } catch (IOException e) {
        // It is being closed anyway.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  @Override
  void closeWires() {
    for (Frames member : members) {
      if (member != null) {
        member.close();
      }
    }
  }

  private static final class LostException extends Exception {
    private static final long serialVersionUID = 1L;
    private final int rank;
    private final transient Frames frames;
    private final IOException cause;

    LostException(int rank, Frames frames, IOException cause) {
      super(cause);
      this.rank = rank;
      this.frames = frames;
      this.cause = cause;
    }

    String who() {
      return "rank %d at %s".formatted(rank, frames.wire().remote());
    }
  }
}
