// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.gpuverbs.internal.softnic.SoftCq;
import org.gpuverbs.internal.softnic.SoftMr;
import org.gpuverbs.internal.softnic.SoftNic;
import org.gpuverbs.internal.softnic.SoftNicConfig;
import org.gpuverbs.internal.softnic.SoftQp;
import org.gpuverbs.internal.softnic.SoftQpAttr;
import org.gpuverbs.internal.softnic.SoftRemote;
import org.gpuverbs.internal.softnic.SoftState;

/**
 * The data path of the stand-in's ConnectX: a software NIC that takes rings, doorbell records, UAR
 * registers, CQs and keys as the firmware was told them. Its callback runs inside the calls that
 * cause the changes, so a queue pair is served when the command to RTS returns, and no more when
 * the one to RESET does.
 */
final class Served implements AutoCloseable {
  private static final int READY = 1;
  private static final int STOP = 2;
  private static final int FAIL = 3;
  private static final int STATE = 4;
  private static final int MR = 5;
  private static final int MR_GONE = 6;
  private static final int SENT = 7;
  private static final int RECEIVED = 8;
  private static final int EBUSY = 16;
  private static final int EIO = 5;

  /** No NIC has it: where a connection leads nowhere. */
  private static final long NOWHERE = 1;

  private static final int CQ_WORDS = 7;

  private final Arena arena = Arena.ofShared();
  private final SoftNic nic;
  private final Map<Integer, SoftQp> qps = new HashMap<>();
  private final Map<Integer, SoftCq> cqs = new HashMap<>();
  private final Map<Integer, SoftMr> mrs = new HashMap<>();
  private final List<String> problems = new CopyOnWriteArrayList<>();

  Served(SoftNicConfig config) {
    nic = SoftNic.open(config);
    try {
      StandIn.serve(
          Linker.nativeLinker()
              .upcallStub(
                  MethodHandles.lookup()
                      .findVirtual(
                          Served.class,
                          "event",
                          MethodType.methodType(
                              int.class,
                              int.class,
                              MemorySegment.class,
                              MemorySegment.class,
                              MemorySegment.class))
                      .bindTo(this),
                  FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
                  arena));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  List<String> problems() {
    return problems;
  }

  /** An exception that left an upcall would end the JVM. */
  private synchronized int event(
      int event, MemorySegment words, MemorySegment send, MemorySegment receive) {
    try {
      return switch (event) {
        case READY -> ready(queue(words), send, receive);
        case STOP -> stop(number(words));
        case FAIL -> fail(number(words));
        case STATE -> failed(number(words)) ? 1 : 0;
        case MR -> register(words.reinterpret(5 * 8L));
        case MR_GONE -> deregister((int) words.reinterpret(8).get(JAVA_LONG, 0));
        case SENT -> (int) qps.get(number(words)).sendIndex() & 0xffff;
        case RECEIVED -> (int) qps.get(number(words)).receives() & 0xffff;
        default -> problem("event " + event, EIO);
      };
    } catch (RuntimeException | Error e) {
      return problem(e.toString(), EIO);
    }
  }

  private int problem(String what, int errno) {
    problems.add(what);
    return errno;
  }

  private static DevxQueue queue(MemorySegment words) {
    return DevxQueue.of(words.reinterpret(DevxQueue.WORDS * 8L));
  }

  private static int number(MemorySegment words) {
    return (int) words.reinterpret(8).get(JAVA_LONG, 0);
  }

  private static MemorySegment at(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }

  private int ready(DevxQueue q, MemorySegment send, MemorySegment receive) {
    if (q.uarUsers() > 1) {
      return problem(q.uarUsers() + " queue pairs ring one register: give each a UAR", EBUSY);
    }
    if (q.receiveDepth() != 0 && q.receiveStride() != 64) {
      return problem("receive WQEs of " + q.receiveStride() + " bytes", EIO);
    }
    Cq sends = Cq.of(send);
    at(q.doorbell(), 8).set(JAVA_LONG, 0, 0);
    SoftQp qp =
        nic.createQp(
            new SoftQpAttr(
                at(q.ring(), q.depth() * 64L),
                q.depth(),
                at(q.dbr(), 8),
                at(q.doorbell(), 8),
                sends.collapsed() ? at(sends.ring(), 64) : null,
                sends.collapsed() ? null : cq(sends),
                q.receiveDepth() == 0 ? null : at(q.receiveRing(), q.receiveDepth() * 64L),
                q.receiveDepth(),
                q.receiveDepth() == 0 ? null : cq(Cq.of(receive))),
            q.number());
    qp.connect(
        new SoftRemote(
            q.remoteDevice() < 0 ? NOWHERE : nic.guid(),
            q.remoteNumber(),
            q.receivePsn(),
            q.sendPsn(),
            q.retries(),
            q.rnrRetries(),
            timeout(q.timeout())));
    qps.put(q.number(), qp);
    return 0;
  }

  /** 4.096 us * 2^code; 0: for ever, here an hour. */
  private static Duration timeout(int code) {
    Duration patience = Duration.ofNanos(4096L << code);
    Duration most = Duration.ofHours(1);
    return code == 0 || patience.compareTo(most) > 0 ? most : patience;
  }

  private SoftCq cq(Cq cq) {
    return cqs.computeIfAbsent(
        cq.number(),
        any ->
            nic.createCq(
                at(cq.ring(), cq.depth() * 64L), cq.depth(), at(cq.dbr(), 4), cq.ignoresOverrun()));
  }

  private int stop(int number) {
    SoftQp qp = qps.remove(number);
    qp.reset();
    qp.close();
    return 0;
  }

  private int fail(int number) {
    qps.get(number).fail();
    return 0;
  }

  private boolean failed(int number) {
    return qps.get(number).state() == SoftState.ERROR;
  }

  /**
   * The pages stay usable until the region is gone, as if they were pinned: nobody may free them.
   */
  private int register(MemorySegment words) {
    int key = (int) words.getAtIndex(JAVA_LONG, 0);
    MemorySegment memory = at(words.getAtIndex(JAVA_LONG, 1), words.getAtIndex(JAVA_LONG, 2));
    mrs.put(key, nic.register(memory, key, (int) words.getAtIndex(JAVA_LONG, 3)));
    return 0;
  }

  private int deregister(int key) {
    mrs.remove(key).close();
    return 0;
  }

  /** The counters of a queue pair that is served. */
  synchronized SoftQp served(int number) {
    return qps.get(number);
  }

  @Override
  public void close() {
    StandIn.serve(MemorySegment.NULL);
    nic.close();
    arena.close();
  }

  private record Cq(
      int number, long ring, int depth, boolean collapsed, boolean ignoresOverrun, long dbr) {
    static Cq of(MemorySegment pointer) {
      MemorySegment words = pointer.reinterpret(CQ_WORDS * 8L);
      return new Cq(
          (int) words.getAtIndex(JAVA_LONG, 0),
          words.getAtIndex(JAVA_LONG, 1),
          (int) words.getAtIndex(JAVA_LONG, 2),
          words.getAtIndex(JAVA_LONG, 3) != 0,
          words.getAtIndex(JAVA_LONG, 4) != 0,
          words.getAtIndex(JAVA_LONG, 5));
    }
  }
}
