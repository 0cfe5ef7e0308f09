// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.events;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** A closed object's memory stays allocated for good, because somebody was still using it. */
@Name("org.gpuverbs.CloseQuarantined")
@Label("Close Quarantined")
@Category("gpuverbs")
public final class CloseQuarantined extends Event {
  /** The object. */
  @Label("Object")
  public String what = "";
}
