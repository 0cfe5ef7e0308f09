// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.foreign.MemorySegment;

/** A memory region of a software NIC. Any thread. */
public final class SoftMr implements AutoCloseable {
  /** Access bits, with ibv_access_flags' values. */
  public static final int LOCAL_WRITE = 1;

  public static final int REMOTE_WRITE = 2;
  public static final int REMOTE_READ = 4;
  public static final int REMOTE_ATOMIC = 8;

  static final int ALL_ACCESS = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;

  /** Never valid: the empty entry of caches. */
  static final SoftMr NONE = new SoftMr();

  final int key;
  final long address;
  final long length;
  final int access;
  private final SoftNic nic;

  /** Whether the CPU can touch it, through {@link #segment}. */
  final boolean host;

  /** What copies a device's or pinned memory; null for plain host memory. */
  final CopyEngine engine;

  /**
   * Null in device memory. Read by NIC threads after {@link #valid}, within one pass; cleared by
   * close once no pass can hold it, so that caches don't keep the memory of an automatic arena
   * alive.
   */
  MemorySegment segment;

  /** Checked once a pass, see {@link Fabric#quiesce}. */
  volatile boolean valid;

  private SoftMr() {
    nic = null;
    key = 0;
    address = 0;
    length = 0;
    access = 0;
    segment = MemorySegment.NULL;
    host = true;
    engine = null;
  }

  SoftMr(SoftNic nic, int key, MemorySegment segment, CopyEngine engine, int access) {
    this.nic = nic;
    this.key = key;
    this.segment = segment;
    this.address = segment.address();
    this.length = segment.byteSize();
    this.access = access;
    this.host = true;
    this.engine = engine;
    this.valid = true;
  }

  /** Of a device. */
  SoftMr(SoftNic nic, int key, long address, long length, CopyEngine engine, int access) {
    this.nic = nic;
    this.key = key;
    this.segment = null;
    this.address = address;
    this.length = length;
    this.access = access;
    this.host = false;
    this.engine = engine;
    this.valid = true;
  }

  /** Key for the owner's own WQEs. */
  public int lkey() {
    return key;
  }

  /** Key for the peer's WQEs. */
  public int rkey() {
    return key;
  }

  /** First address. */
  public long address() {
    return address;
  }

  /** Bytes. */
  public long length() {
    return length;
  }

  /** Access bits, implied ones included. */
  public int access() {
    return access;
  }

  /**
   * Invalidates the keys; returns once no NIC thread touches the memory any more. Twice is fine.
   *
   * @throws IllegalStateException if a NIC thread doesn't let go within 10 s: the memory must not
   *     be freed
   */
  @Override
  public void close() {
    valid = false;
    nic.keys.remove(this);
    Fabric.quiesce();
    segment = MemorySegment.NULL;
  }

  /** Whether bytes [offset, offset + bytes) lie inside; offset is relative and may be anything. */
  boolean contains(long offset, long bytes) {
    return offset >= 0 && offset <= length - bytes;
  }

  boolean allows(int needed) {
    return (access & needed) == needed;
  }
}
