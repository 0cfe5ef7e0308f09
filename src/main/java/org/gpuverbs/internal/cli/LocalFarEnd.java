// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.gpuverbs.Access;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RemoteMemory;

/** Windows and queue pairs of this process. Closed with its NIC. */
final class LocalFarEnd implements FarEnd {
  private static final int DEPTH = 64;

  private final Nic nic;
  private final MemoryRegion target;
  private final MemoryRegion counter;
  private final Consumer<MemorySegment> tamper;

  LocalFarEnd(Nic nic, long bytes, Consumer<MemorySegment> tamper) {
    this.nic = nic;
    this.tamper = tamper;
    target = nic.allocate(bytes, Access.REMOTE_WRITE, Access.REMOTE_READ);
    counter = nic.allocate(Long.BYTES, Access.REMOTE_ATOMIC);
  }

  @Override
  public RemoteMemory target() {
    return target.remote();
  }

  @Override
  public RemoteMemory counter() {
    return counter.remote();
  }

  @Override
  public AutoCloseable connect(List<QueuePair> near) {
    Group group = group(near.stream().map(QueuePair::address).toList());
    for (int i = 0; i < near.size(); i++) {
      near.get(i).connect(group.queuePairs().get(i).address());
    }
    return group;
  }

  /** Queue pairs connected to those addresses. */
  Group group(List<QueuePairAddress> near) {
    Group group = new Group(new ArrayList<>());
    try {
      for (QueuePairAddress each : near) {
        QueuePair made = nic.queuePair(QueuePairOptions.builder().depth(DEPTH).build());
        group.queuePairs().add(made);
        made.connect(each);
      }
      return group;
    } catch (RuntimeException | Error e) {
      group.close();
      throw e;
    }
  }

  /** Queue pairs that are closed together. */
  record Group(List<QueuePair> queuePairs) implements AutoCloseable {
    @Override
    public void close() {
      queuePairs.forEach(QueuePair::close);
    }
  }

  MemorySegment bytes(long length) {
    return target.segment().asSlice(0, length);
  }

  @Override
  public void wipe(long length) {
    bytes(length).fill(Windows.WIPED);
  }

  @Override
  public void arrived(DemoRow row, MemorySegment sent) {
    MemorySegment there = bytes(sent.byteSize());
    tamper.accept(there);
    row.arrived(there);
  }

  @Override
  public void zero() {
    counter.segment().set(ValueLayout.JAVA_LONG, 0, 0);
  }

  @Override
  public long count() {
    return counter.segment().get(ValueLayout.JAVA_LONG, 0);
  }

  @Override
  public void close() {
    counter.close();
    target.close();
  }
}
