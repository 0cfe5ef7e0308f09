// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.events;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** A memory region was registered; the duration is the registration's. */
@Name("org.gpuverbs.MemoryRegistered")
@Label("Memory Registered")
@Category("gpuverbs")
public final class MemoryRegistered extends Event {
  /** The NIC. */
  @Label("NIC")
  public String nic = "";

  /** Bytes. */
  @Label("Length")
  @DataAmount
  public long length;

  /** The local key. */
  @Label("lkey")
  public int lkey;
}
