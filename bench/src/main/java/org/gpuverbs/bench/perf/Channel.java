// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import java.time.Duration;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.gpuverbs.Rendezvous;

/** What client and server tell each other beside the queue pairs: records, one for one. */
interface Channel {
  /** How long one side waits for the other; a row may last this long. */
  Duration PATIENCE = Duration.ofMinutes(10);

  byte[] exchange(byte[] record);

  /** The two ends of a channel within this JVM. */
  static Channel[] pair() {
    Exchanger<byte[]> exchanger = new Exchanger<>();
    Channel end =
        record -> {
          try {
            return exchanger.exchange(record, PATIENCE.toSeconds(), TimeUnit.SECONDS);
          } catch (TimeoutException e) {
            throw new PerfException("the other side of the loopback does not answer", e);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PerfException("interrupted", e);
          }
        };
    return new Channel[] {end, end};
  }

  /** Over TCP. */
  static Channel of(Rendezvous.Peer peer) {
    return peer::exchange;
  }
}
