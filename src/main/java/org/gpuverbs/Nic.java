// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.gpuverbs.internal.backend.Device;
import org.gpuverbs.internal.backend.SoftDevice;
import org.gpuverbs.internal.cuda.CudaCopyEngine;
import org.gpuverbs.internal.events.MemoryRegistered;
import org.gpuverbs.internal.queue.Deadline;
import org.gpuverbs.internal.queue.UseGate;
import org.gpuverbs.internal.softnic.SoftNic;
import org.gpuverbs.internal.softnic.SoftNicConfig;

/**
 * A NIC: where memory is registered and queue pairs are made. Any thread.
 *
 * <pre>{@code
 * try (Nic nic = Nic.open();
 *     MemoryRegion memory = nic.allocate(1 << 20, Access.REMOTE_WRITE);
 *     QueuePair qp = nic.queuePair(QueuePairOptions.defaults())) {
 *   ...
 * }
 * }</pre>
 *
 * <p>Closing a NIC closes its queue pairs, then its completion queues, then its memory regions.
 * After that every call but {@link #info} and {@link #close} throws {@link IllegalStateException}.
 */
public final class Nic implements AutoCloseable {
  private static final long PAGE = 4096;
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  /** A thread that is not the caller, to ask whether memory is accessible from any. */
  private static final Thread ANOTHER_THREAD = Thread.ofVirtual().unstarted(() -> {});

  /** The software NICs of this JVM: SOFT reaches these and no others. */
  private static final Set<Long> SOFT_GUIDS = ConcurrentHashMap.newKeySet();

  private final NicInfo info;
  private final Device device;
  private final UseGate gate = new UseGate();
  private final Set<QueuePair> queuePairs = ConcurrentHashMap.newKeySet();
  private final Set<CompletionQueue> completionQueues = ConcurrentHashMap.newKeySet();
  private final Set<MemoryRegion> regions = ConcurrentHashMap.newKeySet();

  private Nic(NicInfo info, Device device) {
    this.info = info;
    this.device = device;
  }

  /**
   * The NICs of this machine: the software NIC first, then the kernel's RDMA devices, each with
   * every path's availability, which is found out by opening it for a moment.
   *
   * @return one or more
   */
  public static List<NicInfo> list() {
    return NicDiscovery.list();
  }

  /**
   * Opens the best NIC that this version can use: the software NIC.
   *
   * @return the NIC, to be closed
   * @throws RdmaException if the native library is not available; see {@link
   *     GpuVerbs#unavailabilityCause()}
   */
  public static Nic open() {
    return open(NicDiscovery.software());
  }

  /**
   * Opens a NIC of {@link #list()}. Each call makes an independent one.
   *
   * @param info which
   * @return the NIC, to be closed
   * @throws RdmaException if none of its paths is available: the hint says what would enable one
   */
  public static Nic open(NicInfo info) {
    return info.path(Path.SOFT).available()
        ? open(info, SoftNicConfig.defaults())
        : open(info, PortOptions.defaults());
  }

  /**
   * Opens an RDMA device of {@link #list()} with a port and retries of one's own. Each call makes
   * an independent NIC.
   *
   * @param info which
   * @param options the port, how it addresses peers and how it retries
   * @return the NIC, to be closed
   * @throws RdmaException if none of its hardware paths is available, or it can't be opened so: the
   *     hint says what would enable one
   */
  public static Nic open(NicInfo info, PortOptions options) {
    GpuVerbs.ensureAvailable();
    Availability direct = info.path(Path.DIRECT);
    Availability proxy = info.path(Path.PROXY);
    if (!direct.available() && !proxy.available()) {
      throw new RdmaException(info.name() + ": " + proxy.reason(), 0, 0, 0, proxy.fix(), null);
    }
    return new Nic(info, NicDiscovery.openDevice(info.name(), options));
  }

  static Nic open(NicInfo info, SoftNicConfig config) {
    GpuVerbs.ensureAvailable();
    Nic nic = new Nic(info, new SoftDevice(SoftNic.open(config)));
    SOFT_GUIDS.add(nic.guid());
    return nic;
  }

  static boolean reachesSoft(long guid) {
    return SOFT_GUIDS.contains(guid);
  }

  Device device() {
    return device;
  }

  /**
   * What this NIC is.
   *
   * @return as in {@link #list()}
   */
  public NicInfo info() {
    return info;
  }

  /**
   * The NIC's identity, which addresses carry.
   *
   * @return never 0
   */
  public long guid() {
    return device.guid();
  }

  /**
   * The longest message.
   *
   * @return bytes
   */
  public long maxMessageBytes() {
    return device.maxMessageBytes();
  }

  /**
   * Allocates zeroed, page-aligned memory and registers it. The normal way.
   *
   * @param bytes 1 or more
   * @param access what is allowed besides local reads; nothing remote by default
   * @return the region, which owns the memory
   * @throws IllegalArgumentException if {@code bytes} is below 1
   * @throws IllegalStateException if the NIC is closed
   */
  public MemoryRegion allocate(long bytes, Access... access) {
    return allocate(bytes, Ordering.STRICT, access);
  }

  /**
   * As {@link #allocate(long, Access...)}, with an ordering of the NIC's writes.
   *
   * @param bytes 1 or more
   * @param ordering {@link Ordering#RELAXED} for bulk data that nobody watches
   * @param access what is allowed besides local reads; nothing remote by default
   * @return the region, which owns the memory
   * @throws IllegalArgumentException if {@code bytes} is below 1
   * @throws IllegalStateException if the NIC is closed
   */
  public MemoryRegion allocate(long bytes, Ordering ordering, Access... access) {
    if (bytes < 1) {
      throw new IllegalArgumentException("allocate(" + bytes + "): take 1 byte or more");
    }
    enter();
    try {
      Arena arena = Arena.ofShared();
      try {
        return region(
            arena.allocate(bytes, PAGE), ordering, Access.closure(List.of(access)), arena);
      } catch (RuntimeException | Error e) {
        arena.close();
        throw e;
      }
    } finally {
      gate.exit();
    }
  }

  /**
   * Registers memory of the caller's, who keeps it alive until the region is closed. Closing its
   * arena earlier is safe: requests that still touch it fail with {@link Syndrome#LOCAL_PROTECTION}
   * or {@link Syndrome#REMOTE_ACCESS}. With an RDMA device the pages stay pinned and usable for the
   * device until the region is closed.
   *
   * @param segment native memory of a shared, automatic or global arena, or a mapped file
   * @param access what is allowed besides local reads; nothing remote by default
   * @return the region, which does not own the memory
   * @throws IllegalArgumentException if the segment is empty, on the heap, confined to a thread, or
   *     read-only while {@code access} asks for writes
   * @throws IllegalStateException if the segment's arena or the NIC is closed
   */
  public MemoryRegion register(MemorySegment segment, Access... access) {
    return register(segment, Ordering.STRICT, access);
  }

  /**
   * As {@link #register(MemorySegment, Access...)}, with an ordering of the NIC's writes.
   *
   * @param segment native memory of a shared, automatic or global arena, or a mapped file
   * @param ordering {@link Ordering#RELAXED} for bulk data that nobody watches
   * @param access what is allowed besides local reads; nothing remote by default
   * @return the region, which does not own the memory
   * @throws IllegalArgumentException as {@link #register(MemorySegment, Access...)}
   * @throws IllegalStateException if the segment's arena or the NIC is closed
   */
  public MemoryRegion register(MemorySegment segment, Ordering ordering, Access... access) {
    Set<Access> allowed = Access.closure(List.of(access));
    check(segment, allowed);
    enter();
    try {
      return region(segment, ordering, allowed, null);
    } finally {
      gate.exit();
    }
  }

  /**
   * Registers memory that kernels use. Payload in GPU memory is moved by the GPU's copy engine;
   * atomics on it are atomic among the NIC threads of this JVM, not with kernels.
   *
   * @param buffer GPU or pinned memory; closing it closes the region
   * @param access what is allowed besides local reads; nothing remote by default
   * @return the region, which does not own the memory
   * @throws IllegalArgumentException if it can't be registered: memory of a stream-ordered pool,
   *     managed, freed, plain host memory, another GPU's, or longer than its allocation
   * @throws IllegalStateException if the buffer, its GPU or the NIC is closed
   */
  public MemoryRegion register(DeviceBuffer buffer, Access... access) {
    return register(buffer, Ordering.STRICT, access);
  }

  /**
   * As {@link #register(DeviceBuffer, Access...)}, with an ordering of the NIC's writes.
   *
   * @param buffer GPU or pinned memory; closing it closes the region
   * @param ordering {@link Ordering#RELAXED} for bulk data that nobody watches
   * @param access what is allowed besides local reads; nothing remote by default
   * @return the region, which does not own the memory
   * @throws IllegalArgumentException as {@link #register(DeviceBuffer, Access...)}
   * @throws IllegalStateException if the buffer, its GPU or the NIC is closed
   */
  public MemoryRegion register(DeviceBuffer buffer, Ordering ordering, Access... access) {
    Set<Access> allowed = Access.closure(List.of(access));
    enter();
    try {
      buffer.gpu().enter();
      try {
        return buffer.register(
            kind -> kind == MemoryKind.DEVICE,
            segment -> region(buffer, segment, ordering, allowed));
      } finally {
        buffer.gpu().exit();
      }
    } finally {
      gate.exit();
    }
  }

  private MemoryRegion region(
      DeviceBuffer buffer,
      @org.jspecify.annotations.Nullable MemorySegment segment,
      Ordering ordering,
      Set<Access> access) {
    MemoryRegistered event = new MemoryRegistered();
    event.begin();
    CudaCopyEngine copies = buffer.gpu().copies();
    int bits = Access.bits(access) | ordering.bits();
    Device.Region mr =
        segment == null
            ? device.register(buffer.address(), buffer.length(), copies, bits)
            : device.register(segment, copies, bits);
    MemoryRegion region = new MemoryRegion(this, mr, buffer, segment, ordering, access);
    regions.add(region);
    event.nic = info.name();
    event.length = buffer.length();
    event.lkey = mr.lkey();
    event.commit();
    return region;
  }

  private static void check(MemorySegment segment, Set<Access> access) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          "a heap segment can't be registered, since the collector moves it: copy it into"
              + " Nic.allocate");
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("the segment's arena is closed: register it before that");
    }
    if (!segment.isAccessibleBy(ANOTHER_THREAD)) {
      throw new IllegalArgumentException(
          "a segment confined to one thread can't be registered, since the NIC is another:"
              + " take Arena.ofShared, or Nic.allocate");
    }
    if (segment.byteSize() == 0) {
      throw new IllegalArgumentException("an empty segment can't be registered");
    }
    if (segment.isReadOnly() && access.contains(Access.LOCAL_WRITE)) {
      throw new IllegalArgumentException(
          "a read-only segment can't be registered for writing: leave out LOCAL_WRITE, REMOTE_WRITE"
              + " and REMOTE_ATOMIC, or map it for writing");
    }
  }

  private MemoryRegion region(
      MemorySegment segment,
      Ordering ordering,
      Set<Access> access,
      @org.jspecify.annotations.Nullable Arena arena) {
    MemoryRegistered event = new MemoryRegistered();
    event.begin();
    Device.Region mr = device.register(segment, Access.bits(access) | ordering.bits());
    MemoryRegion region = new MemoryRegion(this, mr, segment, ordering, access, arena);
    regions.add(region);
    event.nic = info.name();
    event.length = segment.byteSize();
    event.lkey = mr.lkey();
    event.commit();
    return region;
  }

  /**
   * Makes a completion queue.
   *
   * @param depth completions: a power of two, 1..2<sup>22</sup>
   * @return the queue, to be closed after the queue pairs that use it
   * @throws IllegalArgumentException if {@code depth} is out of range
   * @throws IllegalStateException if the NIC is closed
   */
  public CompletionQueue completionQueue(int depth) {
    enter();
    try {
      CompletionQueue queue = CompletionQueue.create(this, depth);
      completionQueues.add(queue);
      return queue;
    } finally {
      gate.exit();
    }
  }

  /**
   * Makes a queue pair, which then waits for {@link QueuePair#connect}. Its path is the one that
   * the options name, else the first of {@link Path} that this NIC offers: DIRECT before PROXY.
   *
   * @param options what it shall be like
   * @return the queue pair, to be closed
   * @throws IllegalArgumentException if the options name another NIC's completion queue, one
   *     without room, or one that serves queue pairs of another path; or if they ask for more than
   *     the path has on this NIC
   * @throws RdmaException if the path asked for is not available here: the hint says why, or if
   *     memory is short
   * @throws IllegalStateException if the NIC or a completion queue is closed
   */
  public QueuePair queuePair(QueuePairOptions options) {
    Path path = options.path() == null ? best() : options.path();
    Availability availability = info.path(path);
    if (!availability.available()) {
      throw new RdmaException(
          info.name() + " has no path " + path + ": " + availability.reason(),
          0,
          0,
          0,
          availability.fix(),
          null);
    }
    enter();
    try {
      QueuePair queuePair = QueuePair.create(this, path, options);
      queuePairs.add(queuePair);
      return queuePair;
    } finally {
      gate.exit();
    }
  }

  private Path best() {
    for (Path each : Path.values()) {
      if (info.path(each).available()) {
        return each;
      }
    }
    return Path.SOFT;
  }

  private void enter() {
    if (!gate.enter()) {
      throw new IllegalStateException(this + " is closed");
    }
  }

  void forget(MemoryRegion region) {
    regions.remove(region);
  }

  void forget(CompletionQueue queue) {
    completionQueues.remove(queue);
  }

  void forget(QueuePair queuePair) {
    queuePairs.remove(queuePair);
  }

  /**
   * Closes the queue pairs (each waits at most its close timeout), the completion queues, the
   * memory regions and the NIC. Closing twice is fine.
   */
  @Override
  public void close() {
    if (!gate.close()) {
      return;
    }
    SOFT_GUIDS.remove(guid());
    if (!gate.awaitUnused(Deadline.after(CLOSE_TIMEOUT))) {
      Quarantine.report(this.toString(), null);
      return;
    }
    queuePairs.forEach(QueuePair::close);
    completionQueues.forEach(CompletionQueue::close);
    regions.forEach(MemoryRegion::close);
    try {
      device.close();
    } catch (IllegalStateException e) {
      Quarantine.report(this.toString(), e);
    }
  }

  /** Such as {@code Nic[soft0]}. */
  @Override
  public String toString() {
    return "Nic[" + info.name() + "]";
  }
}
