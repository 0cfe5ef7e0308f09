// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

/** A stream of numbered work that is over when a test says so. */
final class FakeStream implements DeviceEvents {
  static final int ERROR = -5;

  volatile long enqueued;
  volatile long completed;
  volatile long failedAt = Long.MAX_VALUE;
  long queries;
  int held;

  void fail() {
    failedAt = completed + 1;
  }

  int state(long mark) {
    if (completed >= mark) {
      return DONE;
    }
    return failedAt <= mark ? ERROR : NOT_YET;
  }

  @Override
  public int idle() {
    return state(enqueued);
  }

  @Override
  public long record() {
    held++;
    return enqueued;
  }

  @Override
  public long order(long event) {
    return event;
  }

  @Override
  public int query(long event) {
    queries++;
    return state(event);
  }

  @Override
  public void release(long event) {
    held--;
  }

  @Override
  public String describe(int error) {
    return "a fake stream failed";
  }
}
