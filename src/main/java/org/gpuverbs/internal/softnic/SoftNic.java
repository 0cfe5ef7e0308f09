// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A software NIC. NICs of one JVM reach each other by {@link #guid}. Any thread. */
public final class SoftNic implements AutoCloseable {
  private static final AtomicInteger THREAD_NUMBER = new AtomicInteger();

  final KeyTable keys = new KeyTable();
  private final SoftNicConfig config;
  private final long guid;
  private final List<Worker> workers = new ArrayList<>();
  private final ConcurrentHashMap<Integer, SoftQp> qps = new ConcurrentHashMap<>();
  private int created;
  private int nextNumber;
  private boolean closed;

  private SoftNic(SoftNicConfig config) {
    this.config = config;
    // Numbers start anywhere, so that a number left over from another NIC names nobody.
    nextNumber = new SecureRandom().nextInt(0x100_0000);
    for (int i = 0; i < config.threads(); i++) {
      workers.add(new Worker(config, "gpuverbs-softnic-" + THREAD_NUMBER.getAndIncrement()));
    }
    guid = Fabric.add(this);
  }

  /**
   * Starts the NIC threads (daemons named "gpuverbs-softnic-N").
   *
   * @throws IllegalCallerException if native access is denied to this module
   */
  public static SoftNic open(SoftNicConfig config) {
    Objects.requireNonNull(config, "config");
    HostMemory.ensureAccessible();
    SoftNic nic = new SoftNic(config);
    Fabric.equip(nic);
    nic.workers.forEach(Worker::start);
    return nic;
  }

  /** The NIC's address in this JVM: random, never 0. */
  public long guid() {
    return guid;
  }

  public int threads() {
    return config.threads();
  }

  public long maxMessageBytes() {
    return config.maxMessageBytes();
  }

  /**
   * Registers memory. Payload is touched only through {@code segment}, so closing its arena is
   * safe: later requests fail.
   *
   * @param access bits of {@link SoftMr}; remote write and remote atomic imply local write
   * @throws IllegalArgumentException if the segment is not native, is empty, is confined to a
   *     thread, or is read-only and access asks for writes
   * @throws IllegalStateException if the segment's arena or the NIC is closed
   */
  public SoftMr register(MemorySegment segment, int access) {
    return register(segment, null, access);
  }

  /**
   * As the shorter form, for memory that is pinned too: an engine may copy from and to it directly,
   * so that it must stay allocated until the region is closed.
   */
  public SoftMr register(MemorySegment segment, CopyEngine engine, int access) {
    return register(segment, engine, 0, access);
  }

  /**
   * As the shorter forms, under a key that somebody else has given the region.
   *
   * @param key neither 0, 0x100 nor -1, which no region has
   * @throws IllegalArgumentException as {@link #register(MemorySegment, int)}, or if the key is
   *     taken or none
   */
  public SoftMr register(MemorySegment segment, int key, int access) {
    if (!KeyTable.usable(key)) {
      throw new IllegalArgumentException("0x" + Integer.toHexString(key) + " is no key");
    }
    return register(segment, null, key, access);
  }

  private SoftMr register(MemorySegment segment, CopyEngine engine, int key, int access) {
    int implied = implied(access);
    if (!segment.isNative()) {
      throw new IllegalArgumentException("heap memory can't be registered; allocate native memory");
    }
    if (segment.byteSize() == 0) {
      throw new IllegalArgumentException("an empty segment can't be registered");
    }
    if (!segment.isAccessibleBy(workers.getFirst().thread())) {
      throw new IllegalArgumentException(
          "the segment's arena is confined to a thread; use a shared, automatic or global arena");
    }
    if (segment.isReadOnly() && (implied & SoftMr.LOCAL_WRITE) != 0) {
      throw new IllegalArgumentException("the segment is read-only; register it without writes");
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("the segment's arena is closed");
    }
    if (engine != null) {
      Fabric.prepare(engine);
    }
    synchronized (this) {
      ensureOpen();
      synchronized (keys) {
        if (key != 0 && keys.find(key) != null) {
          throw new IllegalArgumentException("key 0x" + Integer.toHexString(key) + " is taken");
        }
        SoftMr mr = new SoftMr(this, key == 0 ? keys.freshKey() : key, segment, engine, implied);
        keys.add(mr);
        return mr;
      }
    }
  }

  /**
   * Registers memory of a device, which only {@code engine} touches. It must stay allocated until
   * the region is closed.
   *
   * @param access as in {@link #register(MemorySegment, int)}
   * @throws IllegalStateException if the NIC is closed
   */
  public SoftMr register(long address, long length, CopyEngine engine, int access) {
    int implied = implied(access);
    Fabric.prepare(engine);
    synchronized (this) {
      ensureOpen();
      synchronized (keys) {
        SoftMr mr = new SoftMr(this, keys.freshKey(), address, length, engine, implied);
        keys.add(mr);
        return mr;
      }
    }
  }

  private static int implied(int access) {
    if ((access & ~SoftMr.ALL_ACCESS) != 0) {
      throw new IllegalArgumentException("unknown access bits: 0x" + Integer.toHexString(access));
    }
    return (access & (SoftMr.REMOTE_WRITE | SoftMr.REMOTE_ATOMIC)) != 0
        ? access | SoftMr.LOCAL_WRITE
        : access;
  }

  /** Forgets an engine, in all NICs of this JVM, once no region of its device is left. */
  public static void retire(CopyEngine engine) {
    Fabric.retire(engine);
  }

  List<Worker> workers() {
    return workers;
  }

  /** As the longer form: room is known from {@link SoftCq#consumed}. */
  public SoftCq createCq(MemorySegment ring, int depth) {
    return createCq(ring, depth, null, false);
  }

  /**
   * An owner-bit CQ in {@code ring}, which its owner has filled with invalid CQEs (op_own 0xf1 or
   * 0xff).
   *
   * @param ring depth * 64 bytes, 64-byte aligned; must stay allocated until the QPs that use it
   *     are closed
   * @param depth a power of two, 1..2^22
   * @param dbr 4 bytes, be32 consumer index (24 bits) as an mlx5 CQ's doorbell record; or null for
   *     {@link SoftCq#consumed}
   * @param ignoreOverrun true: never full, old CQEs are overwritten (mlx5's cqc.oi)
   */
  public SoftCq createCq(MemorySegment ring, int depth, MemorySegment dbr, boolean ignoreOverrun) {
    return new SoftCq(ring, depth, dbr, ignoreOverrun);
  }

  /**
   * Creates a QP in RESET.
   *
   * @throws IllegalStateException if the NIC is closed or has as many QPs as it may
   */
  public synchronized SoftQp createQp(SoftQpAttr attr) {
    return create(attr, freshNumber());
  }

  /**
   * As the shorter form, under a number that somebody else has given the QP.
   *
   * @throws IllegalArgumentException if the number is taken or not 24 bits wide
   */
  public synchronized SoftQp createQp(SoftQpAttr attr, int number) {
    if (number < 0 || number > 0xff_ffff || qps.containsKey(number)) {
      throw new IllegalArgumentException("QP number " + number + " is taken or out of range");
    }
    return create(attr, number);
  }

  private SoftQp create(SoftQpAttr attr, int number) {
    Objects.requireNonNull(attr, "attr");
    ensureOpen();
    if (qps.size() >= config.maxQueuePairs()) {
      throw new IllegalStateException("the NIC has its maximum of " + qps.size() + " QPs");
    }
    Worker worker = workers.get(Math.floorMod(created++, workers.size()));
    SoftQp qp = new SoftQp(this, number, worker, attr);
    qps.put(qp.number(), qp);
    return qp;
  }

  /**
   * Closes the QPs and stops the threads. Twice is fine.
   *
   * @throws IllegalStateException if a NIC thread doesn't let go within 10 s: no memory that the
   *     NIC knows must then be freed
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    IllegalStateException stuck = null;
    for (SoftQp qp : qps.values()) {
      try {
        qp.close();
      } catch (IllegalStateException e) {
        stuck = e;
      }
    }
    // With the QPs gone, nobody reaches this NIC's regions any more.
    Fabric.remove(guid);
    workers.forEach(Worker::stop);
    long deadline = Fabric.deadline();
    for (Worker worker : workers) {
      if (!ended(worker.thread(), deadline)) {
        stuck = new IllegalStateException(worker.thread().getName() + " did not stop");
      }
    }
    if (stuck != null) {
      throw stuck;
    }
    workers.forEach(worker -> worker.devices().remove(null).run());
  }

  boolean flushesOverwrite() {
    return config.flushesOverwrite();
  }

  SoftQp find(int number) {
    return qps.get(number);
  }

  void forget(SoftQp qp) {
    qps.remove(qp.number(), qp);
  }

  void quiesce(long deadline) {
    workers.forEach(worker -> worker.quiesce(deadline));
  }

  private void ensureOpen() {
    if (closed) {
      throw new IllegalStateException("the NIC is closed");
    }
  }

  private int freshNumber() {
    while (true) {
      int number = nextNumber++ & 0xff_ffff;
      // mlx5 keeps 0 and 1 for management; 0xffffff is multicast.
      if (number > 1 && number != 0xff_ffff && !qps.containsKey(number)) {
        return number;
      }
    }
  }

  private static boolean ended(Thread thread, long deadline) {
    boolean interrupted = false;
    while (thread.isAlive() && System.nanoTime() - deadline < 0) {
      try {
        thread.join(10);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }
}
