// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench;

import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemMapParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * The peer: two UCX contexts of one process, connected through shared memory. The calling thread
 * copies into the target's mapping itself; there is no NIC and no second thread.
 */
public final class Jucx implements AutoCloseable {
  /** Shared-memory transports, so that UCX does not take its short cut within a process. */
  static final String TRANSPORTS = "posix,sysv,cma";

  private final UcpContext near;
  private final UcpContext far;
  private final UcpWorker initiator;
  private final UcpWorker target;
  private final UcpMemory from;
  private final UcpMemory to;
  private final UcpEndpoint endpoint;
  private final UcpRemoteKey key;
  private final long size;

  Jucx(long size) {
    this.size = size;
    UcpParams params = new UcpParams().requestRmaFeature().setConfig("TLS", TRANSPORTS);
    near = new UcpContext(params);
    far = new UcpContext(params);
    initiator = near.newWorker(new UcpWorkerParams());
    target = far.newWorker(new UcpWorkerParams());
    from = near.memoryMap(new UcpMemMapParams().allocate().setLength(Math.max(size, 4096)));
    to = far.memoryMap(new UcpMemMapParams().allocate().setLength(Math.max(size, 4096)));
    endpoint = initiator.newEndpoint(new UcpEndpointParams().setUcpAddress(target.getAddress()));
    key = endpoint.unpackRemoteKey(to.getRemoteKeyBuffer());
  }

  /**
   * Why it can't be measured here.
   *
   * @return one line; empty if it can
   */
  public static String unavailabilityCause() {
    try (Jucx jucx = new Jucx(8)) {
      jucx.put();
      jucx.flush();
      return "";
    } catch (LinkageError | UcxException | IllegalStateException e) {
      Throwable cause = e;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      return "JUCX can't be used here (apt-get install libucx0): " + cause.getMessage();
    }
  }

  /** Starts one put; it completes with the next flush at the latest. */
  void put() {
    endpoint.putNonBlockingImplicit(from.getAddress(), size, to.getAddress(), key);
  }

  /** Waits until all puts are done at the target. */
  void flush() {
    UcpRequest request = initiator.flushNonBlocking(null);
    while (!request.isCompleted()) {
      try {
        initiator.progress();
        target.progress();
      } catch (Exception e) {
        throw new IllegalStateException("UCX progress failed", e);
      }
    }
  }

  @Override
  public void close() {
    key.close();
    endpoint.close();
    from.close();
    to.close();
    initiator.close();
    target.close();
    near.close();
    far.close();
  }
}
