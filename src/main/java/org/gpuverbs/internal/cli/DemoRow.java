// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * A row of the demo's table: what was moved under one policy by so many lanes, and whether all of
 * it arrived.
 */
final class DemoRow {
  /** In place of a number of lanes: the GPU submits. */
  static final int GPU = 0;

  private final DemoPolicy policy;
  private final int lanes;
  private final MessageDigest far = Digests.sha256();
  private final MessageDigest back = Digests.sha256();
  private boolean farEqual = true;

  /** Whether the far end compares by itself, window by window. */
  private boolean comparedThere;

  private boolean backEqual = true;
  private boolean counted = true;
  private long requests;
  private long doorbells;
  private long nanos;
  private long bytes;

  DemoRow(DemoPolicy policy, int lanes) {
    this.policy = policy;
    this.lanes = lanes;
  }

  DemoPolicy policy() {
    return policy;
  }

  int lanes() {
    return lanes;
  }

  String title() {
    return lanes == GPU
        ? policy.title() + ", GPU"
        : "%s, %d lane%s".formatted(policy.title(), lanes, lanes == 1 ? "" : "s");
  }

  void arrived(MemorySegment bytesThere) {
    Digests.update(far, bytesThere);
  }

  /** The far end has compared what arrived. */
  void arrived(boolean equal) {
    comparedThere = true;
    farEqual &= equal;
  }

  void cameBack(MemorySegment bytesHere) {
    Digests.update(back, bytesHere);
    bytes += 2 * bytesHere.byteSize();
  }

  /** Both digests must be that of the bytes that were moved. */
  void endOfFile(byte[] expected) {
    farEqual &= comparedThere || Arrays.equals(far.digest(), expected);
    backEqual &= Arrays.equals(back.digest(), expected);
  }

  /**
   * After so many fetch-adds of one on a counter of zero: it holds their number, and each value
   * before was fetched once.
   */
  void counted(long counter, MemorySegment fetched, int adds) {
    BitSet seen = new BitSet(adds);
    for (int i = 0; i < adds; i++) {
      long value = fetched.getAtIndex(ValueLayout.JAVA_LONG, i);
      if (value >= 0 && value < adds) {
        seen.set((int) value);
      }
    }
    counted &= counter == adds && seen.cardinality() == adds;
  }

  void spent(Rig rig) {
    requests += rig.requests();
    doorbells += rig.doorbells();
    nanos += rig.nanos();
  }

  boolean verified() {
    return farEqual && backEqual && counted;
  }

  String verdict() {
    if (verified()) {
      return "verified";
    }
    StringBuilder text = new StringBuilder("FAILED:");
    text.append(farEqual ? "" : " far end differs,");
    text.append(backEqual ? "" : " read-back differs,");
    text.append(counted ? "" : " count differs,");
    return text.substring(0, text.length() - 1);
  }

  double doorbellsPerRequest() {
    return (double) doorbells / requests;
  }

  private double megabytesPerSecond() {
    return bytes / (nanos / 1e9) / 1e6;
  }

  private double requestsPerSecond() {
    return requests / (nanos / 1e9);
  }

  Object[] cells() {
    return new Object[] {
      policy.title(),
      lanes == GPU ? "GPU" : lanes,
      requests,
      String.format(Locale.ROOT, "%.4f", doorbellsPerRequest()),
      Units.rate(megabytesPerSecond()),
      Units.rate(requestsPerSecond() / 1e3),
      verdict()
    };
  }

  Map<String, Object> json() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("policy", policy.option());
    map.put("handOver", policy.policy().handOver().toString());
    map.put("doorbellEvery", policy.policy().doorbellEvery());
    map.put("initiator", lanes == GPU ? "GPU" : "CPU lane threads");
    if (lanes != GPU) {
      map.put("lanes", lanes);
    }
    map.put("wqes", requests);
    map.put("doorbells", doorbells);
    map.put("bytes", bytes);
    map.put("seconds", nanos / 1e9);
    map.put("megabytesPerSecond", megabytesPerSecond());
    map.put("wqesPerSecond", requestsPerSecond());
    map.put("farEndEqual", farEqual);
    map.put("readBackEqual", backEqual);
    map.put("counterExact", counted);
    map.put("verified", verified());
    return map;
  }
}
