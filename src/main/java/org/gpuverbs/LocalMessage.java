// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.concurrent.atomic.AtomicBoolean;
import org.gpuverbs.internal.deferred.DeferredQueue;
import org.gpuverbs.internal.deferred.DeviceEvents;
import org.jspecify.annotations.Nullable;

/**
 * The descriptor of data that a sender in this JVM left where it is. Any thread, except that nobody
 * may use it after close.
 */
public final class LocalMessage implements AutoCloseable {
  private final DeferredQueue queue;
  private final SendSlot slot;
  private final long generation;
  private final long address;
  private final long length;
  private final long tag;
  private final long source;
  private final @Nullable DeviceEvents stream;
  private final long event;
  private final AtomicBoolean closed = new AtomicBoolean();

  LocalMessage(
      DeferredQueue queue,
      SendSlot slot,
      long generation,
      long address,
      long length,
      long tag,
      long source,
      @Nullable DeviceEvents stream,
      long event) {
    this.queue = queue;
    this.slot = slot;
    this.generation = generation;
    this.address = address;
    this.length = length;
    this.tag = tag;
    this.source = source;
    this.stream = stream;
    this.event = event;
  }

  /**
   * Where the data begins: an address of the host or of a device, as the sender gave it.
   *
   * @return an address
   */
  public long address() {
    return address;
  }

  /**
   * How much it is.
   *
   * @return bytes
   */
  public long length() {
    return length;
  }

  /**
   * What the sender wants to say about it.
   *
   * @return any value
   */
  public long tag() {
    return tag;
  }

  /**
   * Who sent it.
   *
   * @return the channel's source
   */
  public long source() {
    return source;
  }

  /**
   * Whether the data is there. Always so in an inbox {@linkplain LocalInbox#ofReady of ready}
   * messages. Allocates nothing.
   *
   * @return {@link Status#DONE}, {@link Status#PENDING}, or {@link Status#DEVICE_ERROR}: the device
   *     failed and the data will not come
   * @throws IllegalStateException if closed
   */
  public long poll() {
    if (closed.get()) {
      throw new IllegalStateException("this message is closed: its data may be gone");
    }
    if (stream == null) {
      return Status.DONE;
    }
    int result = stream.query(event);
    return result == DeviceEvents.DONE
        ? Status.DONE
        : result == DeviceEvents.NOT_YET ? Status.PENDING : Status.DEVICE_ERROR;
  }

  /** Gives the data back to the sender, who may overwrite it. Closing twice is fine. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      if (stream != null) {
        stream.release(event);
      }
      queue.sourceReturned(slot, generation);
    }
  }
}
