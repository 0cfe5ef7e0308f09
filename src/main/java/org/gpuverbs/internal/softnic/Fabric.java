// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The software NICs of this JVM, which reach each other by guid. Any thread. */
final class Fabric {
  /** How long control operations wait for NIC threads. */
  static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final ConcurrentHashMap<Long, SoftNic> NICS = new ConcurrentHashMap<>();

  /** Of devices whose memory was registered. Guards itself and the NIC threads' streams. */
  private static final Set<CopyEngine> ENGINES = new HashSet<>();

  private Fabric() {}

  /** Gives every NIC thread a stream of the engine: a message may go from any NIC to any. */
  static void prepare(CopyEngine engine) {
    synchronized (ENGINES) {
      ENGINES.add(engine);
      NICS.values().forEach(nic -> nic.workers().forEach(worker -> worker.devices().add(engine)));
    }
  }

  /** Gives a new NIC's threads streams of all engines. */
  static void equip(SoftNic nic) {
    synchronized (ENGINES) {
      ENGINES.forEach(engine -> nic.workers().forEach(worker -> worker.devices().add(engine)));
    }
  }

  /** Takes an engine's streams from all NIC threads and closes them. */
  static void retire(CopyEngine engine) {
    synchronized (ENGINES) {
      ENGINES.remove(engine);
      List<Runnable> closings = new ArrayList<>();
      for (SoftNic nic : NICS.values()) {
        nic.workers().forEach(worker -> closings.add(worker.devices().remove(engine)));
      }
      quiesce();
      closings.forEach(Runnable::run);
    }
  }

  /** Adds the NIC under a fresh guid. */
  static long add(SoftNic nic) {
    SecureRandom random = new SecureRandom();
    while (true) {
      long guid = random.nextLong();
      if (guid != 0 && NICS.putIfAbsent(guid, nic) == null) {
        return guid;
      }
    }
  }

  static void remove(long guid) {
    NICS.remove(guid);
  }

  /** The QP, or null. */
  static SoftQp find(long guid, int qpn) {
    SoftNic nic = NICS.get(guid);
    return nic == null ? null : nic.find(qpn);
  }

  static long deadline() {
    return System.nanoTime() + PATIENCE.toNanos();
  }

  /**
   * Waits until every NIC thread has ended the pass that it is in. What was invalidated before the
   * call (a region's valid flag, a place in a thread's QP array) is then used by nobody: each pass
   * reads it afresh.
   */
  static void quiesce() {
    long deadline = deadline();
    for (SoftNic nic : NICS.values()) {
      nic.quiesce(deadline);
    }
  }
}
