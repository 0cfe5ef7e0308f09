// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A device whose memory nobody but its engine knows, and an engine that copies one copy a look, so
 * that nothing is done before it was waited for. It refuses copies within the device, as if another
 * kernel filled it.
 */
final class SlowEngine implements CopyEngine, AutoCloseable {
  static final int MEMORY = 1 << 20;
  static final int STAGING = 8192;

  private final Arena arena = Arena.ofShared();
  final MemorySegment memory = arena.allocate(MEMORY, 64);
  final AtomicInteger open = new AtomicInteger();
  final AtomicInteger copies = new AtomicInteger();

  /** No copy is ever done while it is set. */
  volatile boolean stopped;

  /** The copy that fails; negative: none. */
  volatile int failing = -1;

  SoftMr register(SoftNic nic, int access) {
    return nic.register(memory.address(), MEMORY, this, access);
  }

  void fill(long offset, byte[] data) {
    MemorySegment.copy(data, 0, memory, ValueLayout.JAVA_BYTE, offset, data.length);
  }

  byte[] bytes(long offset, int length) {
    return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
  }

  private boolean inside(long address) {
    return address >= memory.address() && address < memory.address() + MEMORY;
  }

  @Override
  public Stream open() {
    open.incrementAndGet();
    return new Copies();
  }

  @Override
  public void close() {
    SoftNic.retire(this);
    arena.close();
  }

  private final class Copies implements Stream {
    private final MemorySegment staging = arena.allocate(STAGING, 64);
    private final ArrayDeque<long[]> queue = new ArrayDeque<>();

    @Override
    public int start(long to, long from, long bytes) {
      if (copies.getAndIncrement() == failing || (inside(to) && inside(from))) {
        return -5;
      }
      queue.add(new long[] {to, from, bytes});
      return 0;
    }

    @Override
    public int query() {
      long[] next = stopped ? null : queue.poll();
      if (next != null) {
        MemorySegment.copy(HostMemory.ALL, next[1], HostMemory.ALL, next[0], next[2]);
      }
      return stopped || !queue.isEmpty() ? 1 : 0;
    }

    @Override
    public long staging() {
      return staging.address();
    }

    @Override
    public int stagingBytes() {
      return STAGING;
    }

    @Override
    public void close() {
      open.decrementAndGet();
    }
  }
}
