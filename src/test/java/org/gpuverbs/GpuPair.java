// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.time.Duration;
import org.gpuverbs.internal.softnic.SoftNicConfig;

/** A queue pair of a GPU, connected to one of the CPU's, with payload of one kind at both ends. */
final class GpuPair implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(20);
  static final int BYTES = 1 << 16;

  final Gpu gpu;
  final Nic nic;
  final Payload local;
  final Payload remote;
  final QueuePair qp;
  final QueuePair peer;

  GpuPair(Gpu gpu, Payload.Kind kind, QueuePairOptions.Builder options) {
    this(gpu, kind, options, SoftNicConfig.defaults());
  }

  GpuPair(Gpu gpu, Payload.Kind kind, QueuePairOptions.Builder options, SoftNicConfig config) {
    this.gpu = gpu;
    nic = Nic.open(Nic.list().getFirst(), config);
    local = new Payload(nic, gpu, kind, BYTES, Access.values());
    remote = new Payload(nic, gpu, kind, BYTES, Access.values());
    qp = nic.queuePair(options.gpu(gpu).build());
    peer = nic.queuePair(QueuePairOptions.defaults());
    Pair.connect(qp, peer);
  }

  WorkRequest.Write write(long from, long to, long length) {
    return new WorkRequest.Write(
        local.region.local(from, length), remote.region.remote(to, length));
  }

  WorkRequest.FetchAdd add(long offset, long value) {
    return new WorkRequest.FetchAdd(
        local.region.local(0, 8), remote.region.remote(offset, 8), value);
  }

  @Override
  public void close() {
    qp.close();
    peer.close();
    local.close();
    remote.close();
    nic.close();
  }
}
