// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.softnic;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A statistic with one writer at a time and any number of readers; costs the writer no fence. */
final class Counter {
  private static final VarHandle VALUE;

  static {
    try {
      VALUE = MethodHandles.lookup().findVarHandle(Counter.class, "value", long.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  @SuppressWarnings("unused")
  private long value;

  void add(long n) {
    VALUE.setRelease(this, (long) VALUE.get(this) + n);
  }

  long value() {
    return (long) VALUE.getAcquire(this);
  }
}
